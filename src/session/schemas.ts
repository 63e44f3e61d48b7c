/** What comes back from a disk or a caller is checked before the loop believes it. */
import { z } from 'zod';
import type { ModelLimits } from '../core/config.ts';
import type { EventType } from '../core/event.ts';
import type { Message, Origin } from '../core/message.ts';
import type { SessionFacts, SessionFigure } from '../core/session-facts.ts';
import { stateVersion } from '../core/state.ts';
import type { RecordedQuery } from './journal.ts';

const origins: { readonly [Name in Origin]: Name } = {
  user: 'user',
  tool_results: 'tool_results',
  summary: 'summary',
  continue_request: 'continue_request',
  stop_hook: 'stop_hook',
  output_mismatch: 'output_mismatch',
  budget_nudge: 'budget_nudge',
  interruption: 'interruption',
  attachment: 'attachment',
  boundary: 'boundary',
  advice: 'advice',
};

const eventTypes: { readonly [Type in EventType]: Type } = {
  'query.started': 'query.started',
  'query.resumed': 'query.resumed',
  abort: 'abort',
  'message.queued': 'message.queued',
  'model.blockEnded': 'model.blockEnded',
  'model.answered': 'model.answered',
  'model.failed': 'model.failed',
  'compact.answered': 'compact.answered',
  'compact.failed': 'compact.failed',
  'tool.decided': 'tool.decided',
  'tool.ended': 'tool.ended',
  'attachments.collected': 'attachments.collected',
  'stopHooks.ended': 'stopHooks.ended',
  'toolUse.summarized': 'toolUse.summarized',
  'span.summarized': 'span.summarized',
  'context.cleared': 'context.cleared',
};

/** Blocks are kept as they are: what the API does not know it refuses, and what is damaged is repaired. */
const block = z.looseObject({ type: z.string() });

const message = z.discriminatedUnion('role', [
  z.looseObject({
    role: z.literal('user'),
    id: z.string(),
    origin: z.enum(origins),
    content: z.array(block),
    refused: z.boolean(),
  }),
  z.looseObject({
    role: z.literal('assistant'),
    id: z.string(),
    model: z.string(),
    content: z.array(block),
    refused: z.boolean(),
  }),
]);

const state = z.looseObject({
  version: z.literal(stateVersion),
  phase: z.string(),
  carried: z.looseObject({ messages: z.array(message) }),
  scratch: z.looseObject({}),
  query: z.looseObject({ seed: z.string() }),
});

const recordedQuery = z.looseObject({
  version: z.literal(1),
  config: z.looseObject({ models: z.array(z.string()).min(1), limits: z.looseObject({}) }),
  initial: state,
  events: z.array(z.looseObject({ type: z.enum(eventTypes) })),
});

const tokens = z.int().nonnegative();

/** One schema for each member of a type, so that a member which the type gains is not refused here. */
type MembersOf<T> = { readonly [Key in keyof Required<T>]: z.ZodType };

const sessionFigure = {
  tokens,
  messages: z.int().positive(),
  lastId: z.string(),
  estimate: tokens,
} satisfies MembersOf<SessionFigure>;

const modelLimits = {
  contextWindow: z.int().positive(),
  maxOutput: z.int().positive(),
  onDemandCompaction: z.boolean().optional(),
  structuredOutputs: z.boolean().optional(),
} satisfies MembersOf<ModelLimits>;

const sessionFacts = z.strictObject({
  prefixHash: z.string().nullable(),
  model: z.string().nullable(),
  measured: z.strictObject(sessionFigure).nullable(),
  tokenRatio: z.number().positive(),
  limits: z.strictObject(modelLimits).nullable(),
} satisfies MembersOf<SessionFacts>);

/**
 * Checks messages of the loop.
 *
 * @throws TypeError with one sentence that names the place; messages in the API's own form go through `ingestMessages`.
 */
export function checkMessages(messages: readonly Message[]): void {
  const hint = 'Messages in the form of the API go through ingestMessages() first';
  check(z.array(message), messages, 'messages', hint);
}

/**
 * Checks the facts of a session.
 *
 * @throws TypeError with one sentence that names the place.
 */
export function checkSession(facts: SessionFacts): void {
  check(sessionFacts, facts, 'session', 'It must be what sessionFacts() or ingestSession() gave, as it was');
}

/**
 * Checks a journal that was stored.
 *
 * @throws TypeError with one sentence that names the place.
 */
export function checkRecorded(recorded: RecordedQuery): void {
  check(recordedQuery, recorded, 'resume', 'It must be what memoryJournal().recorded() gave, as it was');
}

function check(schema: z.ZodType, value: unknown, name: string, hint: string): void {
  const result = schema.safeParse(value);
  const issue = result.error?.issues[0];
  if (issue === undefined) return;
  const place = [name, ...issue.path.map(String)].join('.');
  throw new TypeError(`${place} cannot be used: ${issue.message}. ${hint}.`);
}
