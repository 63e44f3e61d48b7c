/** The one statement of what the API accepts for its form: every request of every test passes it. */
import type { WireProfile } from '../config.ts';
import type { WireBlock, WireMessage, WireRequest } from './request-type.ts';
import { checkBlocks } from './validate-blocks.ts';
import { checkPairs } from './validate-pairs.ts';
import { checkSettings } from './validate-settings.ts';
import { checkShape } from './validate-shape.ts';

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
  /**
   * True when the answer before ended in `pause_turn`: it may be sent back as the last message. Left out, a last answer
   * passes when it holds a server tool use, since the request itself does not say how its answers ended.
   */
  readonly mayEndWithAssistant?: boolean;
}

/** Takes down a violation. */
export type Report = (rule: string, path: string, message: string) => void;

/** A message that counts: messages of the system stand outside of alternation and pairs. */
export interface Spoken {
  readonly message: WireMessage;
  /** Its place in the request. */
  readonly index: number;
}

/**
 * Everything that is wrong with the form of a request; empty when the API accepts it. Takes any value: what has not even
 * the shape of a request gets violations of the rule `shape`, and then no others.
 */
export function validateRequest(request: unknown, limits: RequestLimits): readonly Violation[] {
  const violations: Violation[] = [];
  const report: Report = (rule, path, message) => {
    violations.push({ rule, path, message });
  };
  if (checkShape(request, report)) checkForm(request, limits, report);
  return violations;
}

/** Violations as one text, a line each. */
export function describeViolations(violations: readonly Violation[]): string {
  return violations.map(({ path, message }) => `${path}: ${message}`).join('\n');
}

function checkForm(request: WireRequest, limits: RequestLimits, report: Report): void {
  const messages = request.messages.map(withBlocks);
  const spoken = messages.flatMap((message, index) => (message.role === 'system' ? [] : [{ message, index }]));
  checkRoles(spoken, report);
  checkEnds(spoken, limits, report);
  checkSystemRole(messages, limits, report);
  checkPairs(spoken, report);
  checkBlocks(request, messages, report);
  checkSettings(request, messages, limits, report);
}

/** The API also takes a text as the whole content of a message. */
function withBlocks(message: WireMessage): WireMessage {
  const content: unknown = message.content;
  return typeof content === 'string' ? { role: message.role, content: [{ type: 'text', text: content }] } : message;
}

function checkRoles(spoken: readonly Spoken[], report: Report): void {
  for (const [place, { message, index }] of spoken.entries()) {
    if (place > 0 && spoken[place - 1]!.message.role === message.role) {
      report('alternation', `messages.${index}`, `Two ${message.role} messages follow each other: merge them.`);
    }
  }
}

function checkEnds(spoken: readonly Spoken[], limits: RequestLimits, report: Report): void {
  const first = spoken[0];
  const last = spoken.at(-1);
  if (first === undefined || last === undefined) {
    report('no_messages', 'messages', 'The request has no message.');
    return;
  }
  if (first.message.role !== 'user' && first.message.content[0]?.type !== 'compaction') {
    report('first_role', `messages.${first.index}`, 'The first message is not from the user.');
  }
  if (last.message.role !== 'user' && !(limits.mayEndWithAssistant ?? holdsServerTool(last.message))) {
    report('last_role', `messages.${last.index}`, 'The last message is not from the user.');
  }
}

function holdsServerTool(message: WireMessage): boolean {
  return message.content.some((block: WireBlock) => block.type === 'server_tool_use');
}

function checkSystemRole(messages: readonly WireMessage[], { profile }: RequestLimits, report: Report): void {
  for (const [index, message] of messages.entries()) {
    if (message.role !== 'system') continue;
    const path = `messages.${index}`;
    if (profile !== 'anthropic') report('system_role', path, 'Only the profile anthropic knows system messages.');
    if (awaitsResults(messages, index)) {
      report('system_between', path, 'A system message stands between a tool use and its result.');
    }
  }
}

/** True when the newest spoken message before `index` asked for tools: its results come next. */
function awaitsResults(messages: readonly WireMessage[], index: number): boolean {
  const before = messages.findLast((message, place) => place < index && message.role !== 'system');
  return before?.role === 'assistant' && before.content.some((block) => block.type === 'tool_use');
}
