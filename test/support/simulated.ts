/** What tests ask of a simulated run. */
import type { SimulationResult } from '../../src/testing/simulation-result.ts';

/** A block of a message, as the wire has it. */
export type Block = Readonly<Record<string, unknown>>;

/** Reason and outcome of the last terminal. */
export const ending = ({ terminal }: SimulationResult): string =>
  [terminal?.reason, terminal?.outcome].filter(Boolean).join(' ');
/** Requests of the loop itself. */
export const models = (result: SimulationResult) => result.requests.filter(({ purpose }) => purpose === 'model');
/** What the consumer saw of one kind. */
export const shown = (result: SimulationResult, type: string) => result.emitted.filter((item) => item.type === type);
export const blocksOf = (messages: readonly { readonly content: readonly unknown[] }[]): readonly Block[] =>
  messages.flatMap(({ content }) => content as readonly Block[]);

/** Tool results in the history: the id, whether it is an error, its text. */
export function results(result: SimulationResult): readonly [id: unknown, isError: unknown, text: string][] {
  return blocksOf(result.messages)
    .filter(({ type }) => type === 'tool_result')
    .map((block) => [block['tool_use_id'], block['is_error'], JSON.stringify(block['content'])]);
}

/** Blocks of the last message of the n-th request. */
export function lastOf(result: SimulationResult, request: number): readonly Block[] {
  return models(result)[request]?.messages.at(-1)?.content ?? [];
}

/** Ids of the results in the history, each with whether it is an error. */
export function verdicts(result: SimulationResult): readonly [id: unknown, isError: unknown][] {
  return results(result).map(([id, isError]) => [id, isError]);
}

/** Kinds of the boundaries that were shown, in order. */
export function boundaries(result: SimulationResult): readonly string[] {
  return result.emitted.flatMap((item) => (item.type === 'boundary' ? [item.kind] : []));
}

/** True when the history or a request holds the text. */
export function holds(value: unknown, text: string): boolean {
  return JSON.stringify(value).includes(text);
}

/** Content of the messages of the n-th request without cache breakpoints, one line a block. */
export function linesOf(result: SimulationResult, request: number): readonly string[] {
  return (models(result)[request]?.messages ?? []).flatMap(({ role, content }) =>
    content.map((block) => `${role} ${JSON.stringify({ ...block, cache_control: undefined })}`),
  );
}

/** What is right in each case, by its number. */
export type Right = Readonly<Record<string, (result: SimulationResult) => void>>;
