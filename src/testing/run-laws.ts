/** What must hold of every run, whatever the outside did. */
import { bound } from '../core/bound.ts';
import type { Message } from '../core/message.ts';
import type { LoopState } from '../core/state.ts';
import { projectHistory } from '../core/wire/project.ts';
import { validateRequest } from '../core/wire/validate.ts';
import { type RecordedQuery, replay } from '../session/journal.ts';

/** The laws that a finished query broke, one sentence each: none for an engine that is right. */
export function brokenLaws(recorded: RecordedQuery, state: LoopState): readonly string[] {
  return [...replayLaw(recorded, state), ...boundLaw(recorded, state), ...historyLaw(recorded, state)];
}

function replayLaw(recorded: RecordedQuery, state: LoopState): readonly string[] {
  return JSON.stringify(replay(recorded)) === JSON.stringify(state) ? [] : ['The journal replays to another state.'];
}

function boundLaw({ config, initial, events }: RecordedQuery, { query, carried }: LoopState): readonly string[] {
  // A request that was under way when the process died is sent once more.
  const resumptions = events.filter(({ type }) => type === 'query.resumed').length;
  const turns = config.maxTurns === null ? carried.turnCount : 1;
  // A query that compacts asks the summariser, as often as its input may be made shorter, and nobody else.
  const byHand = { modelCalls: 0, summaryCalls: config.limits.compactionShrinks + 1 };
  const worst = initial.query.manualCompaction === null ? bound(config) : byHand;
  const over = (name: string, calls: number, most: number): readonly string[] =>
    calls > most * turns + resumptions ? [`${calls} ${name} calls are more than the bound ${most * turns}.`] : [];
  return [
    ...over('model', query.modelCalls, worst.modelCalls),
    ...over('summary', query.summaryCalls, worst.summaryCalls),
  ];
}

const nextMessage: Message = {
  role: 'user',
  id: 'next',
  origin: 'user',
  refused: false,
  content: [{ type: 'text', text: 'next' }],
};

/** The request that the next user message would send must be one that the API takes. */
function historyLaw({ config }: RecordedQuery, { carried, query }: LoopState): readonly string[] {
  const messages = projectHistory([...carried.messages, nextMessage], { thinkingOf: null, endsPaused: false });
  const limits = { ...query.limits, estimate: null, profile: config.profile };
  return validateRequest({ model: 'm', max_tokens: 1, messages }, limits)
    .filter(({ rule }) => !rule.startsWith('image_'))
    .map(({ path, message }) => `The history that is left would be refused at ${path}: ${message}`);
}
