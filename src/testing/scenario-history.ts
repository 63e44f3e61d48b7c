/** What a scenario says of the conversation before its first query. */
import type { Message, UserBlock } from '../core/message.ts';
import type { StagedCollapse } from '../core/state.ts';
import { ingestMessages, type LooseMessage } from '../core/wire/ingest.ts';
import type { Scenario } from './scenario.ts';
import { expandBlocks } from './scenario-media.ts';

/** The stored messages, short forms expanded. */
export function scenarioHistory({ messages = [] }: Scenario, model: string): readonly Message[] {
  const expanded = messages.map((message) =>
    typeof message.content === 'string' ? message : { ...message, content: expandBlocks(message.content) },
  );
  return ingestMessages(expanded as readonly LooseMessage[], model);
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
