import { describe, expect, it } from 'vitest';
import { defaultConfig } from '../../../src/core/config.ts';
import { toolResultBudget } from '../../../src/core/context/tool-result-budget.ts';
import { initialState } from '../../../src/core/initial-state.ts';
import type { ImageBlock, Message, UserBlock } from '../../../src/core/message.ts';
import { simulate } from '../../../src/testing/simulate.ts';
import { begun } from '../../support/drive.ts';
import { tool } from '../../support/said.ts';
import { scenario } from '../../support/scenarios.ts';
import { blocksOf, results } from '../../support/simulated.ts';

function png(width: number, height: number, tail = 0): ImageBlock {
  const bytes = Buffer.alloc(33 + tail);
  bytes.write('\x89PNG\r\n\x1a\n', 'latin1');
  bytes.writeUInt32BE(width, 16);
  bytes.writeUInt32BE(height, 20);
  return { type: 'image', source: { type: 'base64', media_type: 'image/png', data: bytes.toString('base64') } };
}

const small = Array.from({ length: 20 }, () => png(100, 100));
const url: ImageBlock = { type: 'image', source: { type: 'url', url: 'http://a/b.png' } };

function says(id: string, ...content: readonly UserBlock[]): Message {
  return { role: 'user', id, origin: 'user', refused: false, content };
}

function stateOf(messages: readonly Message[]): ReturnType<typeof initialState> {
  return initialState({ seed: '00000000-0000-4000-8000-000000000000', messages }, defaultConfig);
}

function layered(...messages: readonly Message[]): readonly unknown[] {
  const state = toolResultBudget(stateOf(messages), defaultConfig);
  expect(toolResultBudget(state, defaultConfig)).toBe(state);
  const blocks = blocksOf(state.carried.messages);
  return blocks.map((block) => (block['type'] === 'text' ? block['text'] : block['type']));
}

describe('layer 0', () => {
  it('changes nothing of a history that the API takes', () => {
    const state = stateOf([says('a', png(8_000, 10), url), says('b', { type: 'text', text: 'hi' })]);
    expect(toolResultBudget(state, defaultConfig)).toBe(state);
  });

  it('leaves out images with too many pixels or bytes, and says why', () => {
    expect(layered(says('a', png(8_001, 10), png(10, 10), png(10, 10, 4 * 1024 * 1024)))).toEqual([
      expect.stringMatching(/it has 8001 x 10 pixels, and the API takes at most 8000 a side\.\]$/),
      'image',
      expect.stringMatching(/it has 5,\d+,\d+ bytes, and the API takes at most 5 MB/),
    ]);
  });

  it('B69: leaves out what is too large among many, wherever it stands, and not what stands among few', () => {
    const wide = png(2_162, 322);
    expect(layered(says('a', ...small.slice(1), wide))).not.toContainEqual(expect.stringContaining('2162'));
    const many = layered(says('a', wide), says('b', ...small));
    expect(many[0]).toMatch(/2162 x 322 pixels, and the API takes at most 2000 a side among more than 20 images/);
    expect(many.slice(1)).toEqual(small.map(() => 'image'));
  });

  it('does not count images that are not sent', () => {
    const refused: Message = { ...says('a', ...small), refused: true };
    expect(layered(refused, says('b', png(2_162, 322)))).not.toContainEqual(expect.stringContaining('2162'));
  });

  it('passes over an image that is damaged: the repair on load has left a note', () => {
    const broken = { type: 'image', source: null } as unknown as ImageBlock;
    expect(layered(says('a', broken, png(9_000, 1)))).toEqual(['[image]', expect.stringContaining('9000 x 1')]);
  });

  it('takes the thinking behind the edit with it where a model binds it to what came before', () => {
    const answer = (id: string, model: string): Message => ({
      role: 'assistant',
      id,
      model,
      refused: false,
      content: [
        { type: 'thinking', thinking: 'hm', signature: 's' },
        { type: 'text', text: id },
      ],
    });
    const bound = 'claude-opus-5-5';
    const history = [answer('before', bound), says('a', png(9_000, 1)), answer('after', bound), answer('other', 'm')];
    expect(
      layered(says('first', { type: 'text', text: 'hi' }), ...history, says('b', { type: 'text', text: 'go' })),
    ).toEqual(['hi', 'thinking', 'before', expect.stringContaining('9000 x 1'), 'after', 'thinking', 'other', 'go']);
  });

  it('runs before a request: nothing is refused, and the history keeps the edit', () => {
    const query = begun({}, { prompt: [png(9_000, 1)] });
    expect(JSON.stringify(query.request.messages)).toContain('9000 x 1 pixels');
    expect(query.rows).toContain('context_layered.layered');
    query.answers('end_turn');
    expect(JSON.stringify(query.carried.messages)).not.toContain('base64');
  });

  it('leaves out an image of a tool in the next request', () => {
    const content = [png(2_500, 1)];
    const query = begun({}, { messages: [says('a', ...small)], prompt: 'go' });
    query.answers('tool_use', tool('t1')).toolEnds('t1', { content }).attaches();
    expect(query.request.messages.at(-1)?.content[0]).toMatchObject({
      type: 'tool_result',
      content: [{ type: 'text', text: expect.stringContaining('2500 x 1') as unknown }],
    });
  });
});

describe('the total of the results of a message', () => {
  const long = {
    content: [{ type: 'text', text: 'x'.repeat(120_000) }] as const,
    whole: { path: '/r', characters: 120_000 },
  };
  const shownIn = (value: unknown): number => JSON.stringify(value).match(/is in \/r/g)?.length ?? 0;

  it('holds when the turn ends', () => {
    const query = begun().answers('tool_use', tool('t1'), tool('t2'));
    query.toolEnds('t1', long).toolEnds('t2', long).attaches();
    expect(shownIn(query.carried.messages)).toBe(1);
    expect(shownIn(query.shownOf('user'))).toBe(1);
  });

  it('holds when the user interrupts', () => {
    const query = begun().answers('tool_use', tool('t1'), tool('t2'), tool('t3'));
    query.toolEnds('t1', long).toolEnds('t2', long).interrupts();
    expect(query.end).toBe('aborted_tools');
    expect(shownIn(query.carried.messages)).toBe(1);
  });

  it('holds in a simulated run, with the whole text in the store', async () => {
    const result = await simulate(scenario('transitions/results-over-the-total.json'));
    const lengths = results(result).map(([id, isError, text]) => [id, isError, text.length > 10_000]);
    expect(lengths).toEqual([
      ['t1', false, true],
      ['t2', false, false],
      ['t3', false, true],
    ]);
    expect(results(result)[1]?.[2]).toContain('The whole result, 90,000 characters, is in /results/t2.txt.');
  });
});
