/** Answers of a model at random: every fault that the scenario format knows, the fitting answer more often than not. */
import { type Choose, often, pick } from './choose.ts';
import type { ModelEntry, StreamItem } from './scenario.ts';

type StreamEntry = Extract<ModelEntry, { stream: unknown }>;

/** Half of a character outside the basic plane: not well-formed on its own. */
export const half = '\ud83d';
export const words = (count: number): string => 'word '.repeat(count);

/** Up to `most` things that `make` draws. */
export function several<Item>(choose: Choose, most: number, make: () => Item): Item[] {
  return Array.from({ length: choose(most + 1) }, make);
}

const toolNames = ['read', 'write', 'grep', 'nope', 'a.b', ''] as const;
const inputs = [{}, { path: 'a' }] as const;
/** Blanks, doubles, halves: what a block of text may turn out to be. */
const texts = ['a', 'hello ', 'b', ' ', '', half, words(300)] as const;
/** JSON as it streams: whole in two pieces, cut, no object, nothing. */
const jsonPieces: readonly [string[], ...string[][]] = [['{"a":', '1}'], ['{a'], ['[1]'], []];
const oddities: readonly [StreamItem, ...StreamItem[]] = [
  { ping: true },
  { block: true },
  { wait: 500 },
  { wait: 100_000 },
  { message: 'm2' },
  { blockStop: 1 },
  { usage: { input: 10, output: 5 } },
];

function toolId(choose: Choose): string {
  const odd = choose(8);
  return odd < 5 ? `t${choose(100)}` : (['d', '', 'x y'][odd - 5] ?? 'd');
}

function streamItem(choose: Choose): StreamItem {
  const kind = choose(16);
  if (kind < 4) return { text: pick(choose, texts) };
  if (kind < 9) return { tool: pick(choose, toolNames), id: toolId(choose), input: pick(choose, inputs) };
  switch (kind) {
    case 9:
      return { tool: pick(choose, toolNames), id: toolId(choose), json: pick(choose, jsonPieces) };
    case 10:
      return { tool: pick(choose, toolNames), id: toolId(choose), open: true };
    case 11:
      return { thinking: pick(choose, ['hm', '']), signature: pick(choose, ['s1', 's2']) };
    case 12:
      return { redacted: 'x' };
    case 13:
      return { serverTool: 'web_search', id: pick(choose, ['s1', 's2']), input: pick(choose, inputs) };
    case 14:
      return { serverResult: pick(choose, ['s1', 's2']), content: [] };
    default:
      return pick(choose, oddities);
  }
}

const stopReasons = [
  'end_turn',
  'tool_use',
  'max_tokens',
  'pause_turn',
  'refusal',
  'model_context_window_exceeded',
  'stop_sequence',
  'odd',
  null,
] as const;
const errorTypes = ['overloaded_error', 'api_error', 'rate_limit_error', 'invalid_request_error', 'odd'] as const;
const brokenEnds: readonly [StreamItem, ...StreamItem[]] = [{ eof: true }, { reset: true }, { stall: true }];

/** How a stream ends: mostly as its items ask for. */
function ending(choose: Choose, items: readonly StreamItem[]): StreamItem {
  const kind = choose(12);
  if (kind < 6) return { stop: items.some((item) => 'tool' in item) ? 'tool_use' : 'end_turn' };
  if (kind < 9) return { stop: pick(choose, stopReasons) };
  return kind < 11 ? { error: pick(choose, errorTypes) } : pick(choose, brokenEnds);
}

function stream(choose: Choose): StreamEntry {
  const items = several(choose, 4, () => streamItem(choose));
  const figures = choose(4) === 3 ? { usage: { input: choose(5_000), output: choose(2_000) } } : {};
  // Some counters need a streak to come to their end.
  const times = choose(3) === 2 ? { times: pick(choose, [2, 3, 6]) } : {};
  return { stream: [...items, ending(choose, items)], ...figures, ...times };
}

/** Those that asking again may cure are more, since the others end a run. */
const statuses = [529, 529, 429, 500, 502, 408, 409, 529, 401, 404, 413, 402, 529, 422, 403, 503] as const;
const waits = ['1', 'soon', '-1', '99999'] as const;
/** Sentences of the API that a rung of the recovery stands for, and one that no rung knows. */
const refusals = [
  'odd',
  'prompt is too long: 250000 tokens > 200000 maximum',
  'messages.1.content.0: Invalid `signature` in `thinking` block',
  'input length and `max_tokens` exceed context limit: 3900 + 1000 > 4000, decrease input length or `max_tokens` and try again',
  'max_tokens: 9000 > 500, which is the maximum allowed number of output tokens for scripted-model',
  'messages.0.content.0.image.source.base64.data: At least one of the image dimensions exceed max allowed size: 8000 pixels',
] as const;

/** Wire events that no script of the API would send. */
const rawStreams: readonly [RawEvents, ...RawEvents[]] = [
  [{ event: 'content_block_start', data: {} }],
  [{ event: 'message_start', data: {} }],
  [{ event: 'message_stop', data: { type: 'message_stop' } }],
  [{ event: 'nonsense', data: 1 }],
  [{ event: 'content_block_delta', data: { type: 'content_block_delta', index: 3, delta: { type: 'odd' } } }],
  [{ event: 'error', data: { type: 'error', error: { type: 'overloaded_error', message: 'x' } } }],
];

type RawEvents = Extract<ModelEntry, { raw: unknown }>['raw'];

function failure(choose: Choose): ModelEntry {
  switch (choose(5)) {
    case 0:
      return { status: pick(choose, statuses), ...(choose(2) === 1 ? { times: 3 } : {}) };
    case 1:
      return { status: 429, headers: { 'retry-after': pick(choose, waits) } };
    case 2:
      return { status: pick(choose, [500, 413]), body: pick(choose, ['', '<html>']) };
    case 3:
      return { raw: pick(choose, rawStreams) };
    default:
      return { status: 400, message: pick(choose, refusals) };
  }
}

/** An answer to a request of the loop: a stream four times in five. */
export function randomAnswer(choose: Choose): ModelEntry {
  return choose(5) < 4 ? stream(choose) : failure(choose);
}

const summaries: readonly [ModelEntry, ...ModelEntry[]] = [
  { text: 'short' },
  ...often(2, { text: 'short' }),
  { text: words(500) },
  { status: 500 },
  { status: 529, times: 2 },
  { status: 400, message: 'prompt is too long: 5000 tokens > 4000 maximum' },
  { text: '' },
  { text: 'cut', stop: 'max_tokens' },
  { text: 'no', stop: 'refusal' },
  { stream: [{ text: 'a' }, { eof: true }] },
  { stream: [{ text: 'a' }, { wait: 1_000 }, { stop: 'end_turn' }] },
  { stream: [{ stall: true }] },
  { text: 'picky', tooLongOver: 500 },
];

/** An answer to the compactor. */
export function randomSummary(choose: Choose): ModelEntry {
  return pick(choose, summaries);
}
