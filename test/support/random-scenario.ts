/** Scenarios at random: every fault of the format, every answer of a hook, an abort or a crash at any place. */
import fc from 'fast-check';

const half = '\ud83d';
const words = (count: number): string => 'word '.repeat(count);

/** The value or nothing. */
function maybe<Value>(arbitrary: fc.Arbitrary<Value>, odds = 3): fc.Arbitrary<Value | undefined> {
  return fc.option(arbitrary, { nil: undefined, freq: odds });
}

const toolName = fc.constantFrom('read', 'write', 'grep', 'nope', 'a.b', '');
const toolId = fc.oneof({ arbitrary: fc.nat(99).map((id) => `t${id}`), weight: 5 }, fc.constantFrom('d', '', 'x y'));
const path = fc.constantFrom({}, { path: 'a' });

const block = fc.oneof(
  { arbitrary: fc.constantFrom('a', 'hello ', ' ', '', words(300), half).map((text) => ({ text })), weight: 4 },
  { arbitrary: fc.record({ tool: toolName, id: toolId, input: path }), weight: 5 },
  fc.record({ tool: toolName, id: toolId, json: fc.constantFrom(['{"a":', '1}'], ['{a'], ['[1]'], []) }),
  fc.record({ tool: toolName, id: toolId, open: fc.constant(true) }),
  fc.record({ thinking: fc.constantFrom('', 'hm'), signature: fc.constantFrom('s1', 's2') }),
  fc.constant({ redacted: 'x' }),
  fc.record({ serverTool: fc.constant('web_search'), id: fc.constantFrom('s1', 's2'), input: path }),
  fc.record({ serverResult: fc.constantFrom('s1', 's2'), content: fc.constant([]) }),
  fc.constantFrom<object[]>({ wait: 500 }, { wait: 100_000 }, { ping: true }, { message: 'm2' }, { blockStop: 1 }),
);

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
];
const errorTypes = ['overloaded_error', 'api_error', 'rate_limit_error', 'invalid_request_error', 'odd_error'];

const ending = fc.oneof(
  { arbitrary: fc.constant(null), weight: 6 },
  { arbitrary: fc.constantFrom(...stopReasons).map((stop) => ({ stop })), weight: 3 },
  { arbitrary: fc.constantFrom(...errorTypes).map((error) => ({ error })), weight: 2 },
  fc.constantFrom<object[]>({ eof: true }, { reset: true }, { stall: true }),
);

const usage = fc.record({ input: fc.nat(5_000), output: fc.nat(2_000) });

const stream = fc
  .record({ items: fc.array(block, { maxLength: 4 }), ending, usage: maybe(usage), times: fc.constantFrom(1, 1, 3) })
  .map(({ items, ending: last, ...same }) => {
    // The stop reason that belongs to the answer, unless a fault was drawn.
    const fitting = { stop: items.some((item) => 'tool' in item) ? 'tool_use' : 'end_turn' };
    return defined({ stream: [...items, last ?? fitting], ...same });
  });

const refusals = [
  'odd',
  'prompt is too long: 250000 tokens > 200000 maximum',
  'messages.1.content.0: Invalid `signature` in `thinking` block',
  'input length and `max_tokens` exceed context limit: 3900 + 1000 > 4000, decrease input length or `max_tokens` and try again',
  'max_tokens: 9000 > 500, which is the maximum allowed number of output tokens for scripted-model',
  'messages.0.content.0.image.source.base64.data: At least one of the image dimensions exceed max allowed size: 8000 pixels',
];

const failure = fc.oneof(
  fc.constantFrom(529, 529, 429, 500, 401, 404, 408, 409, 413).map((status) => ({ status })),
  fc.constantFrom('1', 'soon', '-1', '99999').map((after) => ({ status: 429, headers: { 'retry-after': after } })),
  fc.constantFrom(...refusals).map((message) => ({ status: 400, message })),
);

const toolResult = fc.constantFrom<object[]>(
  { text: 'x' },
  { text: '' },
  { text: half },
  { size: 3_000 },
  { size: 60_000 },
  { throws: 'boom' },
  { throws: null },
  { ms: 300, text: 'y' },
  { text: 'e', isError: true, cancelsSiblings: true, ms: 50 },
  { content: [] },
  {
    content: [
      { type: 'text', text: 'q' },
      { type: 'image', source: { type: 'url', url: 'http://a/b.png' } },
    ],
  },
);

const toolScript = fc
  .record({ safe: fc.boolean(), readOnly: maybe(fc.boolean()), replaySafe: maybe(fc.boolean()) })
  .chain((flags) =>
    fc.array(toolResult, { minLength: 1, maxLength: 3 }).map((results) => defined({ ...flags, results })),
  );

const summary = fc.constantFrom<object[]>(
  { text: 'short' },
  { text: words(500) },
  { status: 500 },
  { status: 400, message: 'prompt is too long: 5000 tokens > 4000 maximum' },
  { text: '' },
  { text: 'cut', stop: 'max_tokens' },
  { stream: [{ text: 'a' }, { eof: true }] },
  { text: 'picky', tooLongOver: 500 },
);

const stored = fc.oneof(
  fc.constantFrom<object[]>(
    { role: 'user', content: 'hi' },
    { role: 'user', content: words(500) },
    { role: 'assistant', content: words(200) },
    { role: 'assistant', content: [] },
    { role: 'assistant', content: [{ type: 'tool_use', id: 'h1', name: 'x y', input: {} }] },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'h1', content: '' }] },
    { role: 'user', content: [{ image: { width: 9_000, height: 10 } }, { type: 'text', text: '' }] },
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
  ),
);

const config = fc
  .record({
    window: fc.constantFrom(
      {},
      { contextWindow: 3_000, modelMaxOutput: 500 },
      { contextWindow: 9_000, modelMaxOutput: 1_000 },
    ),
    fallbackModels: fc.constantFrom([], ['second'], ['second', 'third']),
    thinking: fc.constantFrom<(boolean | number)[]>(false, true, 2_048),
    tokenBudget: fc.constantFrom(null, 500, 5_000),
    autoCompact: fc.boolean(),
    reactiveCompact: fc.boolean(),
    querySource: fc.constantFrom('sdk', 'agent:x', 'compact'),
    maxOutputTokens: fc.constantFrom(null, 300),
    maxTurns: fc.constantFrom(3, 20),
    toolConcurrency: fc.constantFrom(1, 2, 10),
    permissionMode: fc.constantFrom('bypassPermissions', 'default', 'dontAsk'),
    profile: fc.constantFrom('anthropic', 'plain'),
    limits: fc.record({ retries: fc.constantFrom(0, 2, 10) }),
  })
  .map(({ window, ...same }) => ({ ...window, ...same }));

const hooks = fc.record({
  stop: fc.array(fc.constantFrom<object[]>({ block: ['no'] }, { pass: true }, { prevent: 'p' }, { crash: true })),
  preToolUse: fc.array(
    fc.constantFrom<object[]>(
      { tool: 'read', deny: 'no' },
      { tool: 'read', stop: true },
      { tool: 'write', ask: true },
      { tool: 'grep', crash: true },
      { tool: 'write', input: { z: 1 } },
    ),
    { maxLength: 2 },
  ),
  postToolUse: fc.array(
    fc.constantFrom<object[]>(
      { tool: 'read', stop: true },
      { tool: 'write', context: 'c' },
      { tool: 'grep', crash: 'b' },
    ),
    { maxLength: 1 },
  ),
});

const moment = fc.oneof(
  fc.nat(20),
  fc.record({
    phase: fc.constantFrom('compacting', 'streaming', 'runningTools'),
    after: fc.constantFrom(0, 100, 1_000),
  }),
);
const act = fc.oneof(
  fc.record({ abort: fc.constant('interrupt'), at: moment }),
  fc.record({ abort: fc.constant('submit'), text: fc.constant('now'), at: moment }),
  fc.record({ submit: fc.constant('more'), at: moment }),
);

const answers = ['allow', 'deny', 'deny+interrupt'];
const last = { stream: [{ text: 'end' }, { stop: 'end_turn' }], repeat: true };

/** A whole scenario file that never runs out of answers. */
export const scenarios: fc.Arbitrary<object> = fc
  .record({
    seed: fc.nat(9),
    config,
    prompt: fc.constantFrom<unknown[]>('go', half, [{ image: { width: 10, height: 10 } }, { type: 'text', text: '' }]),
    messages: fc.array(stored, { maxLength: 6 }),
    model: fc.array(fc.oneof({ arbitrary: stream, weight: 3 }, failure), { minLength: 1, maxLength: 8 }),
    summary: fc.array(summary, { maxLength: 3 }),
    small: maybe(fc.constant([{ status: 500 }, { text: 'line', repeat: true }])),
    tools: fc.record({ read: toolScript, write: toolScript, grep: toolScript }),
    staged: maybe(fc.constant([{ from: 0, to: 2, summary: 'st' }])),
    hooks,
    permissions: maybe(fc.constantFrom(...answers).map((answer) => [{ tool: 'write', answer }])),
    user: fc.array(act, { maxLength: 2 }),
    next: maybe(
      fc.oneof(
        fc.constant([{ prompt: 'next' }]),
        fc.nat(20).map((cut) => [{ resume: { cut } }, { prompt: 'next' }]),
      ),
    ),
  })
  .map(({ next, model, summary: summaries, ...same }) =>
    defined({
      name: 'at random',
      ...same,
      model: [...model, last],
      summary: [...summaries, { text: 'short', repeat: true }],
      // oxlint-disable-next-line unicorn/no-thenable -- the word of the format; nobody awaits a scenario
      then: next,
    }),
  );

/** Without the members that are left out. */
function defined(members: object): object {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));
}
