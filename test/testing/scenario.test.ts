/* oxlint-disable unicorn/no-thenable -- the word of the format; nobody awaits a scenario */
import { crc32 } from 'node:zlib';
import { imageSize } from 'image-size';
import { describe, expect, it } from 'vitest';
import { toLoopConfig } from '../../src/options.ts';
import { parseScenario, ScenarioError } from '../../src/testing/scenario.ts';
import { expandBlocks } from '../../src/testing/scenario-media.ts';

/** The scenario of the specification, with every form that it names. */
const whole = {
  name: 'B36 output limit cuts a tool call',
  seed: 1,
  config: {
    contextWindow: 200_000,
    modelMaxOutput: 64_000,
    maxOutputTokens: 8_000,
    maxTurns: 20,
    autoCompact: true,
    reactiveCompact: true,
    collapse: false,
    snip: null,
    microcompact: 'off',
    fallbackModels: [],
    thinking: false,
    tokenBudget: null,
    taskBudget: null,
    querySource: 'sdk',
    permissionMode: 'bypassPermissions',
    toolConcurrency: 10,
    systemTokens: 0,
  },
  prompt: 'go',
  model: [
    {
      stream: [
        { thinking: 'hm', signature: 's1' },
        { redacted: 'x' },
        { text: 'ab' },
        { text: 'c', block: true },
        { block: true },
        { tool: 'read', id: 't1', json: ['{"path":', '"a"}'] },
        { tool: 'read', id: 't2', input: { path: 'a' } },
        { wait: 200 },
        { stop: 'tool_use' },
      ],
      usage: { input: 900, output: 20 },
    },
    { stream: [{ text: 'a' }, { error: 'overloaded_error' }] },
    { stream: [{ eof: true }] },
    { stream: [{ reset: true }] },
    { stream: [{ stall: true }] },
    { status: 529, type: 'overloaded_error', message: '...', headers: { 'retry-after': '1' }, times: 3 },
    { raw: [{ event: 'content_block_start', data: {} }] },
    {
      stream: [
        { serverTool: 'web_search', id: 's1', input: {} },
        { serverResult: 's1' },
        { message: 'm2' },
        { usage: {} },
        { blockStop: 0 },
        { ping: true },
        { stop: null },
      ],
    },
    { stream: [{ text: 'ok' }, { stop: 'end_turn' }], repeat: true },
  ],
  summary: [
    { text: 'short', tooLongOver: 1_000 },
    { stream: [{ text: 'short' }, { stop: 'end_turn' }], tooLongOver: 1_000 },
    { status: 500 },
    { text: 'short', repeat: true },
  ],
  tools: {
    read: {
      safe: true,
      results: [
        { text: 'x' },
        { size: 5_000 },
        { throws: 'boom' },
        { throws: null },
        { hangs: true },
        { ms: 500, text: 'y' },
      ],
    },
  },
  small: [{ text: 'summary' }],
  staged: [{ from: 0, to: 4, summary: '...' }],
  hooks: {
    stop: [{ block: ['3 lint errors'] }, { prevent: 'no' }, { prevent: true }, { crash: true }, { pass: true }],
    preToolUse: [
      { tool: 'read', deny: 'no' },
      { tool: 'read', deny: true },
      { tool: 'read', allow: true },
      { tool: 'read', input: {} },
      { tool: 'read', stop: true },
      { tool: 'read', ask: true },
      { tool: 'read', crash: true },
    ],
    postToolUse: [
      { tool: 'read', stop: true },
      { tool: 'read', context: 'c' },
      { tool: 'read', crash: 'boom' },
    ],
  },
  permissions: [
    { tool: 'bash', answer: 'deny' },
    { tool: 'bash', answer: 'allow' },
    { tool: 'bash', answer: 'deny+interrupt' },
  ],
  user: [
    { abort: 'interrupt', at: 7 },
    { submit: 'b', at: { phase: 'compacting', after: 0 } },
    { abort: 'submit', text: 'b', at: { tool: 't1' } },
  ],
  then: [{ prompt: 'next' }, { resume: { cut: 7 } }],
};

const least = { name: 'n', prompt: 'go', model: [{ stream: [{ text: 'a' }, { stop: 'end_turn' }] }] };

describe('parseScenario', () => {
  it('takes the scenario of the specification as it is', () => {
    expect(parseScenario(whole)).toEqual(whole);
    expect(parseScenario(least)).toEqual(least);
  });

  it('takes options of query() that are plain data, and query() takes them back', () => {
    const config = {
      limits: { retries: 2 },
      buffers: { outputReserve: 100 },
      system: 'be',
      smallModel: 'small',
      model: 'm',
      fallbackModels: ['n'],
      compactInstructions: 'briefly',
      profile: 'plain',
      outputFloor: 10,
      defaultOutputCap: 100,
      escalatedOutputCap: 200,
      protectedTail: 50,
    };
    const { config: parsed = {} } = parseScenario({ ...least, config });
    expect(parsed).toEqual(config);
    const facts = { modelLimits: {}, stopHooks: false, microcompactor: null };
    expect(toLoopConfig(parsed, facts)).toMatchObject({
      models: ['m', 'n'],
      protectedTail: 50,
      limits: { retries: 2 },
    });
  });

  it('takes damaged histories, with usage and models', () => {
    const messages = [
      {
        role: 'assistant',
        model: 'old',
        usage: { input_tokens: 950 },
        content: [{ type: 'tool_use' }, {}, { odd: 1 }],
      },
      { role: 'assistant', content: '' },
      { role: 'user', content: [{ type: 'tool_result', content: [{ image: { width: 2_162, height: 322 } }] }] },
    ];
    expect(parseScenario({ ...least, messages }).messages).toEqual(messages);
  });

  it.each<[string, unknown, string]>([
    ['no object', 7, 'at the top: Invalid input: expected object, received number'],
    ['no name', { ...least, name: undefined }, 'at name: Invalid input: expected string, received undefined'],
    ['an unknown key', { ...least, modle: [] }, 'at the top: Unrecognized key: "modle"'],
    ['an unknown key in the place of a known one', { name: 'n', modle: [] }, 'at the top: Unrecognized key: "modle"'],
    [
      'an unknown item',
      { ...least, model: [{ stream: [{ txt: 'a' }] }] },
      'at model.0.stream.0: Unrecognized key: "txt"',
    ],
    [
      'a wrong type in an item',
      { ...least, model: [{ stream: [{ text: 7 }] }] },
      'at model.0.stream.0.text: Invalid input: expected string, received number',
    ],
    [
      'a tool without an id',
      { ...least, model: [{ stream: [{ tool: 'a' }] }] },
      'at model.0.stream.0.id: Invalid input: expected string, received undefined',
    ],
    [
      'a slip in a tool',
      { ...least, model: [{ stream: [{ tool: 'a', id: 't', inptu: {} }] }] },
      'at model.0.stream.0: Unrecognized key: "inptu"',
    ],
    ['an empty answer', { ...least, model: [{}] }, 'at model.0: it has none of the forms that it may have'],
    [
      'a status that is no error',
      { ...least, model: [{ status: 200 }] },
      'at model.0.status: Too small: expected number to be >=300',
    ],
    ['a slip in an error', { ...least, model: [{ status: 529, tims: 3 }] }, 'at model.0: Unrecognized key: "tims"'],
    ['an unknown option', { ...least, config: { contextWindw: 1 } }, 'at config: Unrecognized key: "contextWindw"'],
    [
      'an unknown limit',
      { ...least, config: { limits: { retrys: 1 } } },
      'at config.limits: Unrecognized key: "retrys"',
    ],
    [
      'a tool without results',
      { ...least, tools: { a: { results: [] } } },
      'at tools.a.results: Too small: expected array to have >=1 items',
    ],
    [
      'an unknown result',
      { ...least, tools: { a: { results: [{ hang: true }] } } },
      'at tools.a.results.0: Unrecognized key: "hang"',
    ],
    [
      'an unknown stop hook',
      { ...least, hooks: { stop: [{ blok: [] }] } },
      'at hooks.stop.0: Unrecognized key: "blok"',
    ],
    [
      'an unknown answer',
      { ...least, permissions: [{ tool: 'a', answer: 'maybe' }] },
      'at permissions.0.answer: Invalid option: expected one of "allow"|"deny"|"deny+interrupt"|"waits"',
    ],
    [
      'a phase without a time',
      { ...least, user: [{ abort: 'interrupt', at: { phase: 'x' } }] },
      'at user.0.at.after: Invalid input: expected number, received undefined',
    ],
    [
      'no moment',
      { ...least, user: [{ abort: 'interrupt' }] },
      'at user.0.at: Invalid input: expected number or object',
    ],
    [
      'a resume without a cut',
      { ...least, then: [{ resume: {} }] },
      'at then.0.resume.cut: Invalid input: expected number, received undefined',
    ],
    [
      'an unknown role',
      { ...least, messages: [{ role: 'bot', content: '' }] },
      'at messages.0.role: Invalid option: expected one of "user"|"assistant"',
    ],
    [
      'an image without a size',
      { ...least, prompt: [{ image: { width: 1 } }] },
      'at prompt.0.image.height: Invalid input: expected number, received undefined',
    ],
  ])('names the place of %s in one sentence', (_name, value, sentence) => {
    const parse = (): unknown => parseScenario(value, 'case.json');
    expect(parse).toThrow(ScenarioError);
    expect(parse).toThrow(`case.json is no scenario: ${sentence}.`);
  });
});

describe('expandBlocks', () => {
  const image = { image: { width: 2_162, height: 322 } };
  const [expanded] = expandBlocks([image]) as [{ source: { data: string; media_type: string } }];
  const bytes = Buffer.from(expanded.source.data, 'base64');

  it('makes a small PNG that says its size', () => {
    expect(imageSize(bytes)).toMatchObject({ width: 2_162, height: 322, type: 'png' });
    expect(bytes.length).toBeLessThan(100);
    expect(expanded.source.media_type).toBe('image/png');
  });

  it('makes chunks whose checksums hold', () => {
    const names: string[] = [];
    for (let at = 8; at < bytes.length; ) {
      const length = bytes.readUInt32BE(at);
      names.push(bytes.toString('latin1', at + 4, at + 8));
      expect(bytes.readUInt32BE(at + 8 + length)).toBe(crc32(bytes.subarray(at + 4, at + 8 + length)));
      at += 12 + length;
    }
    expect(names).toEqual(['IHDR', 'IDAT', 'IEND']);
  });

  it('expands inside tool results, and leaves everything else as it is', () => {
    const result = { type: 'tool_result', tool_use_id: 't', content: [{ type: 'text', text: 'x' }, image] };
    expect(expandBlocks([result])).toEqual([{ ...result, content: [{ type: 'text', text: 'x' }, expanded] }]);
    const odd = [
      null,
      7,
      { image: 'x' },
      { image: { width: -1, height: 2 } },
      { type: 'image', image: { width: 1, height: 1 } },
    ];
    expect(expandBlocks(odd)).toEqual(odd);
  });
});
