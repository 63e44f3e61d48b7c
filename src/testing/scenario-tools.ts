/** Tools, hooks and permissions that follow a scenario. */
import { z } from 'zod';
import type { Clock } from '../clock.ts';
import { sleep } from '../clock.ts';
import type { Hooks } from '../hooks/hook.ts';
import type { CanUseTool, PermissionAnswer } from '../tools/can-use-tool.ts';
import { type Tool, type ToolContent, type ToolOutput, tool } from '../tools/tool.ts';
import type { Scenario } from './scenario.ts';
import { wordsOf } from './scenario-media.ts';

type ToolScript = NonNullable<Scenario['tools']>[string];
type ToolResult = ToolScript['results'][number];

/** What a simulation counts. */
export interface SimulationProbe {
  toolRuns: number;
  stopHookRuns: number;
}

const anyObject = z.looseObject({});
/** The JSON schema of `anyObject`, written out: making one for every tool of every simulation takes longer than its run. */
const anyObjectSchema = { type: 'object', properties: {}, additionalProperties: {} };

/** The n-th item; the last one repeats. */
function nth<T>(items: readonly T[], index: number): T | undefined {
  return items[Math.min(index, items.length - 1)];
}

/** One tool for each entry; what a call gets is the next result of its list. */
export function scenarioTools(scenario: Scenario, clock: Clock): readonly Tool[] {
  return Object.entries(scenario.tools ?? {}).map(([name, script]) => scriptedTool(name, script, clock));
}

function scriptedTool(name: string, script: ToolScript, clock: Clock): Tool {
  let calls = 0;
  const safe = script.safe === true;
  const readOnly = script.readOnly ?? safe;
  return tool({
    name,
    description: `The scripted tool ${name}.`,
    input: anyObject,
    inputSchema: anyObjectSchema,
    isConcurrencySafe: () => safe,
    isReadOnly: () => readOnly,
    isReplaySafe: () => script.replaySafe === true,
    run: async (_input, { signal }) => {
      const result = nth(script.results, calls);
      calls += 1;
      if (result === undefined) return '';
      if ('ms' in result && result.ms !== undefined) await sleep(clock, result.ms, signal);
      return outputOf(result);
    },
  });
}

function outputOf(result: ToolResult): ToolOutput | Promise<ToolOutput> {
  // oxlint-disable-next-line typescript/only-throw-error -- real tools throw anything, and so does this one
  if ('throws' in result) throw result.throws;
  if ('hangs' in result) return new Promise(() => {});
  if ('size' in result) return { content: 'x'.repeat(result.size) };
  if ('words' in result) return { content: wordsOf(result.words) };
  if ('content' in result) {
    return { content: result.content as unknown as readonly ToolContent[], isError: result.isError ?? false };
  }
  return { content: result.text, isError: result.isError ?? false, cancelsSiblings: result.cancelsSiblings ?? false };
}

type Said = string | true;

const crashText = (crash: Said): string => (crash === true ? 'the scripted hook crashed' : crash);
const stopText = (stop: Said): string => (stop === true ? 'the scripted hook stops the loop' : stop);
const denyText = (deny: Said): string => (deny === true ? 'the scripted hook denies the call' : deny);

/** Function hooks that answer as the scenario says. */
export function scenarioHooks(scenario: Scenario, probe: SimulationProbe): Partial<Hooks> {
  const { stop = [], preToolUse = [], postToolUse = [] } = scenario.hooks ?? {};
  return {
    stop: stop.length === 0 ? [] : [stopHook(stop, probe)],
    preToolUse: preToolUse.map((script, index) => ({
      name: `scripted preToolUse ${index}`,
      tools: [script.tool],
      run: ({ toolUseId }) => {
        if (script.id !== undefined && script.id !== toolUseId) return undefined;
        if (script.crash !== undefined) throw new Error(crashText(script.crash));
        return {
          decision:
            script.deny !== undefined
              ? 'deny'
              : script.ask === true
                ? 'ask'
                : script.allow === true
                  ? 'allow'
                  : undefined,
          reason: script.deny === undefined ? undefined : denyText(script.deny),
          input: script.input as never,
          context: script.context,
          stop: script.stop === undefined ? undefined : stopText(script.stop),
        };
      },
    })),
    postToolUse: postToolUse.map((script, index) => ({
      name: `scripted postToolUse ${index}`,
      tools: [script.tool],
      run: ({ toolUseId }) => {
        if (script.id !== undefined && script.id !== toolUseId) return undefined;
        if (script.crash !== undefined) throw new Error(crashText(script.crash));
        return { context: script.context, stop: script.stop === undefined ? undefined : stopText(script.stop) };
      },
    })),
  };
}

function stopHook(
  scripts: NonNullable<NonNullable<Scenario['hooks']>['stop']>,
  probe: SimulationProbe,
): Hooks['stop'][number] {
  return {
    name: 'scripted stop hook',
    run: () => {
      const script = nth(scripts, probe.stopHookRuns);
      probe.stopHookRuns += 1;
      if (script === undefined || 'pass' in script) return undefined;
      if ('crash' in script) throw new Error(crashText(script.crash));
      return 'block' in script ? { block: script.block } : { prevent: stopText(script.prevent) };
    },
  };
}

/** Answers permission prompts from the list of the tool, the last one again and again; null: nobody is there. */
export function scenarioPermissions(scenario: Scenario): CanUseTool | null {
  if (scenario.permissions === undefined) return null;
  const asked = new Map<string, number>();
  return (name, _input, { signal }) => {
    const answers = (scenario.permissions ?? []).filter((permission) => permission.tool === name);
    const count = asked.get(name) ?? 0;
    asked.set(name, count + 1);
    const answer = nth(answers, count)?.answer ?? 'deny';
    if (answer === 'waits') return untilAborted(signal);
    return answer === 'allow'
      ? { behavior: 'allow' }
      : { behavior: 'deny', message: 'The scripted user says no.', interrupt: answer === 'deny+interrupt' };
  };
}

/** The person thinks until the question is taken away. */
function untilAborted(signal: AbortSignal): Promise<PermissionAnswer> {
  return new Promise((resolve) => {
    const gone = (): void => resolve({ behavior: 'deny' });
    if (signal.aborted) gone();
    else signal.addEventListener('abort', gone, { once: true });
  });
}
