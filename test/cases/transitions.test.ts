import { describe, expect, it } from 'vitest';
import { continues } from '../../src/core/continue.ts';
import type { CompletedOutcome } from '../../src/core/state.ts';
import { terminals } from '../../src/core/terminal.ts';
import { simulate } from '../../src/testing/simulate.ts';
import { scenario, scenariosIn } from '../support/scenarios.ts';

const times = (count: number, name: string): string[] => Array.from({ length: count }, () => name);

/** What each file does: the continues on its way, how its last query ends, requests to the model and to the summariser. */
const expected: Readonly<Record<string, [path: string[], end: string, models: number, summaries: number]>> = {
  'next-turn': [['next_turn'], 'completed done', 2, 0],
  'collapse-drain-retry': [['collapse_drain_retry'], 'completed done', 2, 0],
  'reactive-compact-retry': [['reactive_compact_retry'], 'completed done', 2, 1],
  'max-output-tokens-escalate': [['max_output_tokens_escalate'], 'completed done', 2, 0],
  'max-output-tokens-recovery': [times(2, 'max_output_tokens_recovery'), 'completed done', 3, 0],
  'stop-hook-blocking': [['stop_hook_blocking'], 'completed done', 2, 0],
  'token-budget-continuation': [['token_budget_continuation'], 'completed budget_spent', 2, 0],
  'completed-done': [[], 'completed done', 1, 0],
  'completed-budget-spent': [times(3, 'token_budget_continuation'), 'completed budget_spent', 4, 0],
  'completed-output-limit': [times(3, 'max_output_tokens_recovery'), 'completed output_limit', 4, 0],
  'completed-refusal': [[], 'completed done', 2, 0],
  'completed-api-error': [[], 'completed api_error', 1, 0],
  'completed-stop-hook-limit': [times(8, 'stop_hook_blocking'), 'completed stop_hook_limit', 9, 0],
  'completed-empty': [[], 'completed empty', 2, 0],
  'blocking-limit-full': [[], 'blocking_limit', 0, 0],
  'blocking-limit-refilled': [times(6, 'next_turn'), 'blocking_limit', 6, 2],
  'blocking-limit-refilled-reactively': [
    ['reactive_compact_retry', 'next_turn', 'reactive_compact_retry', 'next_turn'],
    'blocking_limit',
    5,
    2,
  ],
  'reactive-flag-survives-a-stop-hook': [['reactive_compact_retry', 'stop_hook_blocking'], 'prompt_too_long', 3, 1],
  'reactive-compaction-shrunk': [['reactive_compact_retry'], 'completed done', 2, 2],
  'image-error-after-compaction': [[], 'image_error', 1, 1],
  'prompt-too-long': [[], 'prompt_too_long', 1, 0],
  'prompt-too-long-after-compaction': [[], 'prompt_too_long', 1, 1],
  'image-error': [[], 'image_error', 2, 0],
  'results-over-the-total': [['next_turn'], 'completed done', 2, 0],
  'media-replaced': [[], 'completed done', 2, 0],
  'model-error': [[], 'model_error', 11, 0],
  fallback: [[], 'completed done', 4, 0],
  'aborted-streaming': [[], 'aborted_streaming', 1, 0],
  'aborted-before-it-began': [[], 'aborted_streaming', 0, 0],
  'aborted-tools': [[], 'aborted_tools', 1, 0],
  'aborted-by-denial': [[], 'aborted_tools', 1, 0],
  'aborted-compacting': [[], 'aborted_streaming', 0, 1],
  'aborted-compacting-reactively': [[], 'aborted_streaming', 1, 1],
  'aborted-running-stop-hooks': [[], 'aborted_streaming', 1, 0],
  'aborted-attaching': [[], 'aborted_tools', 1, 0],
  'submit-while-streaming': [[], 'completed done', 2, 0],
  'stop-hook-prevented': [[], 'stop_hook_prevented', 1, 0],
  'hook-stopped': [[], 'hook_stopped', 1, 0],
  'hook-stopped-after-a-tool': [[], 'hook_stopped', 1, 0],
  'max-turns': [['next_turn'], 'max_turns', 2, 0],
  'pause-turn': [[], 'completed done', 2, 0],
  malformed: [[], 'model_error', 4, 0],
  'malformed-once': [['next_turn'], 'completed done', 3, 0],
  'thinking-only-once': [[], 'completed done', 2, 0],
  'thinking-stripped': [[], 'completed done', 2, 0],
  'max-output-of-the-model-learnt': [['next_turn'], 'completed done', 3, 0],
  'max-tokens-lowered': [[], 'completed done', 2, 0],
  'auto-compact': [[], 'completed done', 1, 1],
  'compaction-shrunk': [[], 'completed done', 1, 2],
  'compaction-failed': [[], 'completed done', 1, 1],
  'compacted-by-hand': [[], 'completed done', 0, 1],
  'nothing-to-compact': [[], 'completed done', 0, 0],
  'compaction-by-hand-refused': [[], 'completed api_error', 0, 1],
  'compaction-by-hand-failed': [[], 'model_error', 0, 1],
  'compaction-by-hand-unusable': [[], 'model_error', 0, 1],
  'compaction-by-hand-too-long': [[], 'prompt_too_long', 0, 4],
  'span-staged': [Array.from({ length: 24 }, () => 'next_turn'), 'completed done', 25, 0],
  hopeless: [Array.from({ length: 7 }, () => 'next_turn'), 'blocking_limit', 8, 3],
  'resumed-compacting-reactively': [['reactive_compact_retry'], 'completed done', 2, 2],
  'image-error-after-failed-compaction': [[], 'image_error', 1, 1],
  'retry-after': [[], 'completed done', 2, 0],
  'queued-message': [['next_turn'], 'completed done', 2, 0],
  resumed: [['next_turn'], 'completed done', 2, 0],
  'tool-use-summary': [['next_turn'], 'completed done', 2, 0],
  'cost-limit-before-a-turn': [[], 'completed cost_limit', 1, 0],
  'cost-limit-before-a-retry': [[], 'completed cost_limit', 1, 0],
  'cost-limit-after-a-compaction': [[], 'completed cost_limit', 0, 1],
  'cost-limit-while-it-compacts': [['next_turn'], 'completed cost_limit', 1, 1],
  'cost-limit-before-a-stop-hook-retry': [[], 'completed cost_limit', 1, 0],
  'cost-limit-before-a-nudge': [[], 'completed cost_limit', 1, 0],
  'done-over-the-cost-cap': [[], 'completed done', 1, 0],
  'output-reasked': [[], 'completed done', 2, 0],
  'completed-invalid-output': [[], 'completed invalid_output', 3, 0],
  'output-of-a-plain-server': [[], 'completed done', 1, 0],
  'output-of-a-cut-answer': [['max_output_tokens_recovery'], 'completed done', 2, 0],
  'output-fits-and-a-hook-blocks': [['stop_hook_blocking'], 'completed done', 3, 0],
  'prompt-budget': [['token_budget_continuation'], 'completed budget_spent', 2, 0],
  'task-budget-after-compaction': [['next_turn'], 'completed done', 2, 1],
};

/** What `completed` can mean. */
const reachable: readonly CompletedOutcome[] = [
  'done',
  'budget_spent',
  'output_limit',
  'refusal',
  'api_error',
  'stop_hook_limit',
  'empty',
  'cost_limit',
  'invalid_output',
];

const files = scenariosIn('transitions');
const nameOf = (file: string): string => file.replace(/^.*\/|\.json$/g, '');

describe('transitions through the real SDK client', () => {
  it('have an expectation for each file, and a file for each', () => {
    expect(files.map(nameOf).toSorted()).toEqual(Object.keys(expected).toSorted());
  });

  it.each(files)('%s', async (file) => {
    const result = await simulate(scenario(file));
    const [path, end, models, summaries] = expected[nameOf(file)]!;
    expect(result.violations).toEqual([]);
    expect(result.transitions).toEqual(path);
    expect([result.terminal?.reason, result.terminal?.outcome].filter(Boolean).join(' ')).toBe(end);
    expect([result.counts.modelCalls, result.counts.summaryCalls]).toEqual([models, summaries]);
    expect(result.requests.filter(({ purpose }) => purpose === 'model')).toHaveLength(models);
    const errors = result.emitted.filter(({ type }) => type === 'error').length;
    expect(errors).toBe(result.terminals.filter(({ failure }) => failure !== null).length);
  });

  it('reach every continue and every terminal', async () => {
    const results = await Promise.all(files.map((file) => simulate(scenario(file))));
    const continued = new Set(results.flatMap(({ transitions }) => transitions));
    const ended = new Set(results.flatMap((result) => result.terminals.map(({ reason }) => reason)));
    const outcomes = new Set(results.flatMap((result) => result.terminals.flatMap(({ outcome }) => outcome ?? [])));
    expect([...continued].toSorted()).toEqual(Object.keys(continues).toSorted());
    expect([...ended].toSorted()).toEqual(Object.keys(terminals).toSorted());
    expect([...outcomes].toSorted()).toEqual(reachable.toSorted());
  });

  it('print the same bytes for the same file', async () => {
    for (const file of files) {
      const [first, second] = [await simulate(scenario(file)), await simulate(scenario(file))];
      expect(JSON.stringify(second)).toBe(JSON.stringify(first));
    }
  });
});
