/**
 * Scenarios at random: every fault of the format, every answer of a hook and of the user, an abort or a crash at any
 * place. Every choice comes from `choose`, as those of the adversary do.
 */
import { type Choose, pick } from './choose.ts';
import { half, randomAnswer, randomSummary, several, words } from './random-answers.ts';
import type { ModelEntry, Scenario } from './scenario.ts';

type Config = NonNullable<Scenario['config']>;
type Tools = NonNullable<Scenario['tools']>;
type Hooks = NonNullable<Scenario['hooks']>;
type Act = NonNullable<Scenario['user']>[number];
type Stored = NonNullable<Scenario['messages']>[number];

const windows: readonly [Config, ...Config[]] = [
  {},
  { contextWindow: 3_000, modelMaxOutput: 500 },
  { contextWindow: 9_000, modelMaxOutput: 1_000 },
];
const models: readonly [Config, ...Config[]] = [
  {},
  { fallbackModels: ['second'] },
  { fallbackModels: ['second', 'third'] },
];

const price = { input: 10, output: 100 };
/** A cap that some answers reach. */
const capped: Config = {
  maxCost: 0.05,
  prices: Object.fromEntries(
    ['scripted-model', 'scripted-small', 'second', 'third', 'claude-sonnet-5-5'].map((name) => [name, price]),
  ),
};

/** What is not drawn keeps its default, so that files stay short. */
function randomConfig(choose: Choose): Config {
  return {
    ...pick(choose, windows),
    ...pick(choose, models),
    ...pick<Config>(choose, [{}, { thinking: true }, { thinking: 2_048 }]),
    ...pick<Config>(choose, [{}, {}, { tokenBudget: 500 }, { tokenBudget: 5_000 }]),
    ...pick<Config>(choose, [{}, {}, { taskBudget: 20_000 }]),
    ...pick<Config>(choose, [{}, {}, { promptBudget: true }, { outputSchema: { type: 'string' } }, capped]),
    ...pick<Config>(choose, [{}, { autoCompact: false }]),
    ...pick<Config>(choose, [{}, { reactiveCompact: false }]),
    ...pick<Config>(choose, [{}, {}, { snip: true }]),
    ...pick<Config>(choose, [{}, {}, { microcompact: 'local' }, { microcompact: 'server' }]),
    ...pick<Config>(choose, [{}, {}, { collapse: true }]),
    ...pick<Config>(choose, [{}, {}, { onDemandCompaction: true }]),
    ...pick<Config>(choose, [{}, {}, { layers: { clearTools: ['read', 'grep'], clearKeep: 1 } }]),
    ...pick<Config>(choose, [{}, {}, {}, { messageResultChars: 2_000 }]),
    // A model that binds thinking to what stands before it.
    ...pick<Config>(choose, [{}, {}, { model: 'claude-sonnet-5-5' }]),
    ...pick<Config>(choose, [{}, {}, { querySource: 'agent:x' }, { querySource: 'compact' }]),
    ...pick<Config>(choose, [{}, { maxOutputTokens: 300 }]),
    ...pick<Config>(choose, [{}, { maxTurns: 3 }]),
    ...pick<Config>(choose, [{}, { toolConcurrency: 1 }, { toolConcurrency: 2 }]),
    ...pick<Config>(choose, [{}, {}, { permissionMode: 'default' }, { permissionMode: 'dontAsk' }]),
    ...pick<Config>(choose, [{}, { profile: 'plain' }]),
    ...pick<Config>(choose, [{}, {}, { limits: { retries: 0 } }, { limits: { retries: 2 } }]),
  };
}

const stored: readonly [Stored, ...Stored[]] = [
  { role: 'user', content: 'hi' },
  { role: 'user', content: words(500) },
  { role: 'assistant', content: words(200) },
  { role: 'assistant', content: [] },
  { role: 'assistant', content: [{ type: 'tool_use', id: 'h1', name: 'x y', input: {} }] },
  { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'h1', content: '' }] },
  {
    role: 'user',
    content: [{ image: { width: 9_000, height: 10 } }, { type: 'text', text: '' }],
  },
  {
    role: 'assistant',
    content: [
      { type: 'thinking', thinking: 'h', signature: 'old' },
      { type: 'text', text: 'ok' },
    ],
  },
  {
    role: 'assistant',
    model: 'other',
    content: [{ type: 'server_tool_use', id: 's9', name: 'web_search', input: {} }],
  },
];

type Result = Tools[string]['results'][number];

const results: readonly [Result, ...Result[]] = [
  { text: 'x' },
  { text: '' },
  { text: half },
  { size: 3_000 },
  { size: 60_000 },
  { throws: 'boom' },
  { throws: null },
  { ms: 300, text: 'y' },
  { ms: 20, throws: { code: 1 } },
  { text: 'e', isError: true, cancelsSiblings: true, ms: 50 },
  { content: [] },
  {
    content: [
      { type: 'text', text: 'q' },
      { type: 'image', source: { type: 'url', url: 'http://a/b.png' } },
    ],
  },
];

function randomTool(choose: Choose): Tools[string] {
  return {
    ...pick(choose, [{ safe: true }, {}]),
    ...pick(choose, [{}, {}, { readOnly: true }, { readOnly: false }]),
    ...pick(choose, [{}, {}, { replaySafe: true }]),
    results: [pick(choose, results), ...several(choose, 2, () => pick(choose, results))],
  };
}

function randomHooks(choose: Choose): Hooks {
  return {
    stop: several(choose, 4, () =>
      pick<NonNullable<Hooks['stop']>[number]>(choose, [
        { pass: true },
        { block: ['no'] },
        { block: ['no', ''] },
        { prevent: 'p' },
        { crash: true },
      ]),
    ),
    preToolUse: several(choose, 2, () =>
      pick<NonNullable<Hooks['preToolUse']>[number]>(choose, [
        { tool: 'write', context: 'c' },
        { tool: 'read', deny: 'no' },
        { tool: 'read', stop: true },
        { tool: 'write', ask: true },
        { tool: 'write', allow: true },
        { tool: 'grep', crash: true },
        { tool: 'write', input: { z: 1 } },
      ]),
    ),
    postToolUse: several(choose, 1, () =>
      pick<NonNullable<Hooks['postToolUse']>[number]>(choose, [
        { tool: 'write', context: 'c' },
        { tool: 'read', stop: true },
        { tool: 'grep', crash: 'b' },
      ]),
    ),
  };
}

const phases = ['streaming', 'compacting', 'compactingReactively', 'runningTools', 'attaching', 'runningStopHooks'];

function randomMoment(choose: Choose): Act['at'] {
  if (choose(2) === 0) return choose(40);
  if (choose(4) === 3) return { tool: `t${choose(100)}` };
  return { phase: phases[choose(phases.length)] ?? 'streaming', after: pick(choose, [0, 100, 1_000]) };
}

function randomAct(choose: Choose): Act {
  const at = randomMoment(choose);
  switch (choose(3)) {
    case 0:
      return { submit: 'more', at };
    case 1:
      return { abort: 'interrupt', at };
    default:
      return { abort: 'submit', text: 'now', at };
  }
}

/** A tool that never comes back needs someone who loses patience, or the run would never end. */
const hangs = {
  call: { stream: [{ tool: 'hang', id: 'hang1', input: {} }, { stop: 'tool_use' }] } satisfies ModelEntry,
  // Neither read-only nor safe to repeat: after a crash it is not run again, where nobody would end it.
  tool: { results: [{ hangs: true }] } satisfies Tools[string],
  act: { abort: 'interrupt', at: { tool: 'hang1' } } satisfies Act,
};

const prompts: readonly [NonNullable<Scenario['prompt']>, ...NonNullable<Scenario['prompt']>[]] = [
  'go',
  'go +5k',
  half,
  [{ image: { width: 10, height: 10 } }, { type: 'text', text: '' }],
];
const answers = ['allow', 'deny', 'deny+interrupt'] as const;
const end: ModelEntry = { stream: [{ text: 'end' }, { stop: 'end_turn' }], repeat: true };

/** What follows the first query. */
function followUp(choose: Choose): Pick<Scenario, 'then'> {
  const next = { prompt: 'next' };
  // oxlint-disable-next-line unicorn/no-thenable -- the word of the format; nobody awaits a scenario
  const after = (then: NonNullable<Scenario['then']>): Pick<Scenario, 'then'> => ({ then });
  switch (choose(8)) {
    case 4:
      return after([{ compact: {} }, next]);
    case 5:
      return after([next]);
    case 6:
      return after([{ resume: { cut: choose(30) } }, next]);
    case 7: {
      // A process that was resumed dies later than the one before it: time does not go back.
      const cut = choose(20);
      return after([{ resume: { cut } }, { resume: { cut: cut + 1 + choose(20) } }, next]);
    }
    default:
      return {};
  }
}

/**
 * A whole scenario that never runs out of answers.
 *
 * @param config options that take the place of drawn ones.
 */
export function randomScenario(choose: Choose, config: Config = {}): Scenario {
  const doesHang = choose(12) === 11;
  return {
    name: 'at random',
    seed: choose(10),
    config: { ...randomConfig(choose), ...config },
    prompt: pick(choose, prompts),
    messages: several(choose, 6, () => pick(choose, stored)),
    model: [
      ...several(choose, 7, () => randomAnswer(choose)),
      randomAnswer(choose),
      ...(doesHang ? [hangs.call] : []),
      end,
    ],
    summary: [...several(choose, 3, () => randomSummary(choose)), { text: 'short', repeat: true }],
    ...(choose(3) === 2 ? { small: [{ status: 500 }, { text: 'line', repeat: true }] } : {}),
    tools: {
      read: randomTool(choose),
      write: randomTool(choose),
      grep: randomTool(choose),
      ...(doesHang ? { hang: hangs.tool } : {}),
    },
    ...(choose(4) === 3 ? { staged: [{ from: 0, to: 2, summary: 'st' }] } : {}),
    hooks: randomHooks(choose),
    ...(choose(3) === 2 ? { permissions: [{ tool: 'write', answer: pick(choose, answers) }] } : {}),
    user: [...several(choose, 2, () => randomAct(choose)), ...(doesHang ? [hangs.act] : [])],
    ...followUp(choose),
  };
}
