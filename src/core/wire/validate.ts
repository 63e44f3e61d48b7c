/** The one statement of what the API accepts for its form: every request of every test passes it. */
import type { WireProfile } from '../config.ts';
import type { WireBlock, WireMessage, WireRequest } from './request-type.ts';
import { checkBlocks } from './validate-blocks.ts';
import { checkPairs } from './validate-pairs.ts';
import { checkSettings } from './validate-settings.ts';

/** One thing that the API would refuse. */
export interface Violation {
  /** Name of the rule, the same for every place. */
  readonly rule: string;
  /** Where: `messages.3.content.0`. */
  readonly path: string;
  /** One sentence. */
  readonly message: string;
}

/** What a request must fit. */
export interface RequestLimits {
  /** In tokens. */
  readonly contextWindow: number;
  /** In tokens. */
  readonly maxOutput: number;
  /** Tokens of the input, where they are known or estimated; null leaves the rule about the window out. */
  readonly estimate: number | null;
  readonly profile: WireProfile;
}

/** Takes down a violation. */
export type Report = (rule: string, path: string, message: string) => void;

/** Everything that is wrong with the form of a request; empty when the API accepts it. */
export function validateRequest(request: WireRequest, limits: RequestLimits): readonly Violation[] {
  const violations: Violation[] = [];
  const report: Report = (rule, path, message) => {
    violations.push({ rule, path, message });
  };
  const messages = request.messages.map(withBlocks);
  checkRoles(messages, limits.profile, report);
  checkPairs(messages, report);
  checkBlocks(messages, thinks(request), report);
  checkSettings(request, messages, limits, report);
  return violations;
}

/** Violations as one text, a line each. */
export function describeViolations(violations: readonly Violation[]): string {
  return violations.map(({ path, message }) => `${path}: ${message}`).join('\n');
}

function thinks(request: WireRequest): boolean {
  return request.thinking !== undefined && request.thinking.type !== 'disabled';
}

/** The API also takes a text as the whole content of a message. */
function withBlocks(message: WireMessage): WireMessage {
  const content: unknown = message.content;
  if (typeof content === 'string') return { role: message.role, content: [{ type: 'text', text: content }] };
  return Array.isArray(content) ? message : { role: message.role, content: [] };
}

/** A message that a role message of the system does not count among. */
function isSpoken(message: WireMessage): boolean {
  return message.role !== 'system';
}

function checkRoles(messages: readonly WireMessage[], profile: WireProfile, report: Report): void {
  const spoken = messages.map((message, index) => ({ message, index })).filter(({ message }) => isSpoken(message));
  for (const [place, { message, index }] of spoken.entries()) {
    if (place > 0 && spoken[place - 1]!.message.role === message.role) {
      report('alternation', `messages.${index}`, `Two ${message.role} messages follow each other: merge them.`);
    }
    if (message.content.length === 0) report('empty_message', `messages.${index}`, 'The message has no content.');
  }
  checkEnds(spoken, report);
  if (profile === 'anthropic') return;
  for (const [index, message] of messages.entries()) {
    if (!isSpoken(message))
      report('system_role', `messages.${index}`, 'Only the profile anthropic knows system messages.');
  }
}

function checkEnds(spoken: readonly { readonly message: WireMessage; readonly index: number }[], report: Report): void {
  const first = spoken[0];
  const last = spoken.at(-1);
  if (first === undefined || last === undefined) {
    report('no_messages', 'messages', 'The request has no message.');
    return;
  }
  if (first.message.role !== 'user' && first.message.content[0]?.type !== 'compaction') {
    report('first_role', `messages.${first.index}`, 'The first message is not from the user.');
  }
  if (last.message.role !== 'user' && !isPaused(last.message)) {
    report('last_role', `messages.${last.index}`, 'The last message is not from the user.');
  }
}

/** An answer that ended in `pause_turn` holds server tools: it is sent back as it is. */
function isPaused(message: WireMessage): boolean {
  return message.content.some((block: WireBlock) => block.type === 'server_tool_use');
}
