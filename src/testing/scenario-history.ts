/** What a scenario says of the conversation before its first query. */
import type { Message, UserBlock } from '../core/message.ts';
import type { SessionFacts } from '../core/session-facts.ts';
import type { StagedCollapse } from '../core/state.ts';
import { ingestMessages, type LooseMessage } from '../core/wire/ingest.ts';
import { ingestSession } from '../core/wire/ingest-session.ts';
import { type Scenario, usageSchema } from './scenario.ts';
import { expandBlocks } from './scenario-media.ts';

/** The stored messages. */
export function scenarioHistory(scenario: Scenario, model: string): readonly Message[] {
  return ingestMessages(storedMessages(scenario), model);
}

/** What the stored messages say of their own size. */
export function scenarioSession(scenario: Scenario, model: string): SessionFacts {
  return ingestSession(storedMessages(scenario), model);
}

/** The stored messages in the API's own form, short forms expanded. */
function storedMessages({ messages = [] }: Scenario): readonly LooseMessage[] {
  return messages.map(({ usage, ...message }) => ({
    ...message,
    content: typeof message.content === 'string' ? message.content : expandBlocks(message.content),
    ...(usage === undefined ? {} : { usage: apiUsage(usage) }),
  })) as readonly LooseMessage[];
}

/** `usage` as the API writes it; what has not the short form stays as it is. */
function apiUsage(stored: unknown): unknown {
  const short = usageSchema.safeParse(stored);
  if (!short.success) return stored;
  const { input = 0, output = 0, cacheRead = 0, cacheCreation = 0 } = short.data;
  return {
    input_tokens: input,
    output_tokens: output,
    cache_read_input_tokens: cacheRead,
    cache_creation_input_tokens: cacheCreation,
  };
}

/** A prompt, short forms expanded. */
export function scenarioPrompt(prompt: string | readonly unknown[]): string | readonly UserBlock[] {
  return typeof prompt === 'string' ? prompt : (expandBlocks(prompt) as readonly UserBlock[]);
}

/** The collapses that are staged at the start, by the ids of the messages. */
export function scenarioStaged({ staged = [] }: Scenario, history: readonly Message[]): readonly StagedCollapse[] {
  return staged.map(({ from, to, summary }) => ({
    firstId: history[from]?.id ?? '',
    lastId: history[to]?.id ?? '',
    summary,
  }));
}
