import { getEventListeners } from 'node:events';
import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { LoopEvent } from '../src/core/event.ts';
import type { Emitted } from '../src/core/output.ts';
import type { LoopState, Terminal } from '../src/core/state.ts';
import { query } from '../src/query.ts';
import { memoryJournal, type RecordedQuery, replay } from '../src/session/journal.ts';
import type { ModelEntry } from '../src/testing/scenario.ts';
import { tool } from '../src/tools/tool.ts';
import { drain, echo, scriptedQuery } from './support/scripted.ts';

const done: ModelEntry = { stream: [{ text: 'done' }, { stop: 'end_turn' }] };
const useEcho = (id: string): ModelEntry => ({
  stream: [{ tool: 'echo', id, input: { say: id } }, { stop: 'tool_use' }],
});

async function settle(rounds = 20): Promise<void> {
  for (let round = 0; round < rounds; round += 1) await setImmediate();
}

const hanging = tool({
  name: 'hang',
  description: 'Never ends.',
  input: z.looseObject({}),
  run: () => new Promise(() => {}),
});

describe('query', () => {
  it('does nothing before the first next()', async () => {
    const { query: started, model } = scriptedQuery([done]);
    await settle();
    expect(model.requests).toHaveLength(0);
    expect(started.state).toBeNull();
    const { terminal } = await drain(started);
    expect(terminal).toMatchObject({ reason: 'completed', outcome: 'done' });
    expect(model.requests).toHaveLength(1);
  });

  it('returns the terminal through yield*', async () => {
    const { query: inner } = scriptedQuery([useEcho('t1'), done]);
    async function* outer(): AsyncGenerator<Emitted, Terminal> {
      return yield* inner;
    }
    const generator = outer();
    let result = await generator.next();
    while (result.done !== true) result = await generator.next();
    expect(result.value.turns).toBe(2);
  });

  it('passes observations through in order, and messages after their fragments', async () => {
    const script: ModelEntry = {
      stream: [{ text: 'a' }, { text: 'b' }, { text: 'c', block: true }, { stop: 'end_turn' }],
    };
    const { emitted } = await drain(scriptedQuery([script]).query);
    const texts = emitted.flatMap((item) =>
      item.type === 'delta' && item.delta.type === 'text' ? [item.delta.text] : [],
    );
    expect(texts.join('')).toBe('abc');
    expect(emitted.at(-1)?.type).toBe('assistant');
  });

  it('reads no more than one buffer while the consumer holds', async () => {
    const piece = 'x'.repeat(4_096);
    const items = Array.from({ length: 500 }, () => ({ text: piece }));
    const { query: started, model } = scriptedQuery([{ stream: [...items, { stop: 'end_turn' }] }]);
    let read = 0;
    const answer = model.answer.bind(model);
    model.answer = (request) => {
      const given = answer(request);
      return {
        ...given,
        chunks: async function* (signal) {
          for await (const chunk of given.chunks(signal)) {
            read += chunk.length;
            yield chunk;
          }
        },
      };
    };
    await started.next();
    await settle(50);
    expect(read).toBeLessThanOrEqual(64 * 1024);
    const held = read;
    await settle(50);
    expect(read).toBe(held);
    await drain(started);
    expect(read).toBeGreaterThan(500 * 4_096);
  });

  it('starts no new effect while the consumer holds', async () => {
    const { query: started, model } = scriptedQuery([useEcho('t1'), done]);
    let item = await started.next();
    while (item.done !== true && item.value.type !== 'user') item = await started.next();
    await settle(50);
    expect(model.requests).toHaveLength(1);
    await drain(started);
    expect(model.requests).toHaveLength(2);
  });

  it('returns at once while a next() hangs, and leaves nothing behind', async () => {
    const { query: started, clock } = scriptedQuery([{ stream: [{ text: 'a' }, { stall: true }] }]);
    await started.next();
    const pending = started.next();
    await settle();
    const returned = await started.return();
    expect(returned.done).toBe(true);
    expect((await pending).done).toBe(true);
    await settle();
    expect(clock.pending).toBe(0);
    expect((await started.next()).done).toBe(true);
  });

  it('ends by its signal and lets go of it', async () => {
    for (const [reason, notes] of [
      [undefined, 1],
      ['submit', 0],
    ] as const) {
      const controller = new AbortController();
      const { query: started } = scriptedQuery([{ stream: [{ text: 'a' }, { stall: true }] }], {
        signal: controller.signal,
      });
      await started.next();
      const rest = drain(started);
      await settle();
      controller.abort(reason);
      const { terminal } = await rest;
      expect(terminal.reason).toBe('aborted_streaming');
      const messages = started.state?.carried.messages ?? [];
      expect(messages.filter((message) => message.role === 'user' && message.origin === 'interruption')).toHaveLength(
        notes,
      );
      expect(messages.some((message) => message.role === 'assistant')).toBe(true);
      expect(getEventListeners(controller.signal, 'abort')).toHaveLength(0);
    }
  });

  it('makes no call when its signal was aborted before it began', async () => {
    const { query: started, model } = scriptedQuery([done], { signal: AbortSignal.abort() });
    const { terminal } = await drain(started);
    expect(terminal.reason).toBe('aborted_streaming');
    expect(model.requests).toHaveLength(0);
  });

  it('handles an abort at once while the consumer holds, and keeps what tools had finished', async () => {
    const script: ModelEntry = {
      stream: [{ tool: 'echo', id: 't1', input: {} }, { tool: 'hang', id: 't2', input: {} }, { stop: 'tool_use' }],
    };
    const { query: started, clock } = scriptedQuery([script], { tools: [echo, hanging], abortGraceMs: 50 });
    let item = await started.next();
    while (item.done !== true && item.value.type !== 'assistant') item = await started.next();
    const pending = drain(started);
    await settle();
    started.interrupt();
    await settle();
    clock.advanceToNext();
    await settle();
    while (clock.advanceToNext()) await settle();
    const { terminal } = await pending;
    expect(terminal.reason).toBe('aborted_tools');
    const results = started.state?.carried.messages.flatMap((message) =>
      message.content.flatMap((block) => (block.type === 'tool_result' && 'is_error' in block ? [block.is_error] : [])),
    );
    expect(results).toEqual([false, true]);
  });

  it('delivers a message behind the next results, started and completed once', async () => {
    const { query: started, model } = scriptedQuery([useEcho('t1'), done]);
    const { value } = await started.next();
    expect(value).toMatchObject({ type: 'delta' });
    const id = started.send('and hurry');
    const { emitted } = await drain(started);
    const commands = emitted.filter((item) => item.type === 'command');
    expect(commands).toEqual([
      { type: 'command', messageId: id, status: 'started' },
      { type: 'command', messageId: id, status: 'completed' },
    ]);
    const last = model.requests[1]?.messages.at(-1)?.content.map((block) => block.type);
    expect(last).toEqual(['tool_result', 'text']);
    expect(started.queued).toEqual([]);
  });

  it('keeps a message that came too late, and does not call it completed', async () => {
    const { query: started } = scriptedQuery([done]);
    await started.next();
    started.send('one more thing');
    const { emitted } = await drain(started);
    started.send('and another');
    expect(emitted.some((item) => item.type === 'command')).toBe(false);
    expect(started.queued).toHaveLength(2);
  });

  it('leaves the message of a submit for the next query', async () => {
    const { query: started } = scriptedQuery([{ stream: [{ text: 'a' }, { stall: true }] }]);
    await started.next();
    const rest = drain(started);
    await settle();
    started.submit('do this instead');
    expect((await rest).terminal.reason).toBe('aborted_streaming');
    expect(started.queued.map((message) => message.content)).toEqual([[{ type: 'text', text: 'do this instead' }]]);
  });

  it('never gives a message an id that a given one has, though the seed is the same and some are missing', async () => {
    const journal = memoryJournal();
    const { query: first } = scriptedQuery([useEcho('t1'), done], { journal });
    await first.next();
    const ids = [first.send('one'), first.send('two')];
    await drain(first);
    const recorded = journal.recorded()!;
    const isSecond = (event: LoopEvent): boolean => event.type === 'message.queued' && event.message.id === ids[1];
    const resume = { ...recorded, events: [recorded.events[0]!, ...recorded.events.filter(isSecond)] };
    const { query: resumed } = scriptedQuery([done], { resume });
    expect([resumed.send('three'), resumed.send('four')]).not.toContain(ids[1]);
    const { query: next } = scriptedQuery([done], { queued: [{ id: ids[0]!, content: [] }] });
    expect(next.send('five')).not.toBe(ids[0]);
  });

  it('writes a journal that replays to the same state, at every prefix', async () => {
    const journal = memoryJournal();
    const { query: started } = scriptedQuery([useEcho('t1'), useEcho('t2'), done], { journal });
    await drain(started);
    const recorded = journal.recorded()!;
    expect(replay(recorded)).toEqual(started.state);
    for (let count = 0; count <= recorded.events.length; count += 1) {
      expect(JSON.parse(JSON.stringify(replay(recorded, count)))).toEqual(replay(recorded, count));
    }
  });

  it('asks for the microcompactor that a stored journal has lost, and takes it from deps', async () => {
    const journal = memoryJournal();
    const deps = { microcompact: (state: LoopState) => state };
    await drain(scriptedQuery([useEcho('t1'), done], { journal, deps }).query);
    const stored = JSON.parse(JSON.stringify(journal.recorded())) as RecordedQuery;
    expect(() => replay(stored)).toThrow(/give it as deps\.microcompact/);
    const resume = { ...stored, events: stored.events.slice(0, 2) };
    const { terminal } = await drain(scriptedQuery([useEcho('r1'), done], { resume, deps }).query);
    expect(terminal).toMatchObject({ reason: 'completed', outcome: 'done' });
  });

  it('resumes a journal that was cut anywhere', async () => {
    const journal = memoryJournal();
    await drain(scriptedQuery([useEcho('t1'), done], { journal }).query);
    const recorded = journal.recorded()!;
    for (let cut = 0; cut < recorded.events.length; cut += 1) {
      const rest = [useEcho('r1'), done];
      const resumed = scriptedQuery(rest, { resume: { ...recorded, events: recorded.events.slice(0, cut) } });
      const { terminal } = await drain(resumed.query);
      expect(terminal).toMatchObject({ reason: 'completed', outcome: 'done' });
      expect(resumed.model.violations).toEqual([]);
    }
  });

  it('leaves no listener on a signal over 200 turns with two tools each', async () => {
    const controller = new AbortController();
    const turns = Array.from(
      { length: 200 },
      (_, turn): ModelEntry => ({
        stream: [
          { tool: 'echo', id: `a${turn}`, input: {} },
          { tool: 'echo', id: `b${turn}`, input: {} },
          { stop: 'tool_use' },
        ],
      }),
    );
    const { query: started } = scriptedQuery([...turns, done], { signal: controller.signal });
    let most = 0;
    let result = await started.next();
    while (result.done !== true) {
      most = Math.max(most, getEventListeners(controller.signal, 'abort').length);
      result = await started.next();
    }
    expect(result.value.turns).toBe(201);
    expect(most).toBeLessThanOrEqual(1);
    expect(getEventListeners(controller.signal, 'abort')).toHaveLength(0);
  });

  it.each([
    [{ maxTurns: 0 }, /maxTurns/],
    [{ modle: 'x' } as never, /modle/],
    [{ cwd: '/nowhere/at/all' }, /not there/],
    [{ tools: [echo, echo] }, /echo/],
    [{ messages: [{ role: 'user', content: 'hi' }] } as never, /^messages\.0.*ingestMessages/],
    [{ resume: { version: 1, config: {}, events: [] } } as never, /^resume\.config/],
    [{ rules: [{ behavior: 'allow', rule: 'Bash(' } as const] }, /permission rule/],
  ])('refuses %j in one sentence', (options, sentence) => {
    expect(() => query({ prompt: 'go', ...options })).toThrow(sentence);
  });

  it('takes a model caller, a compactor, a microcompactor and a uuid of the host', async () => {
    const calls: string[] = [];
    const started = query({
      prompt: 'go',
      tools: [],
      deps: {
        uuid: () => {
          calls.push('uuid');
          return '12345678-0000-4000-8000-000000000000';
        },
        microcompact: (state) => {
          calls.push('microcompact');
          return state;
        },
        async *callModel(request) {
          calls.push(request.model);
          yield { type: 'message_start', message: { id: 'm', usage: { input_tokens: 3 } } };
          yield { type: 'content_block_start', index: 0, content_block: { type: 'text', text: 'hi' } };
          yield { type: 'content_block_stop', index: 0 };
          yield { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 1 } };
          yield { type: 'message_stop' };
        },
      },
    });
    const { terminal } = await drain(started);
    expect(terminal).toMatchObject({ reason: 'completed', usage: { input: 3, output: 1 } });
    expect(calls[0]).toBe('uuid');
    expect(calls).toContain('microcompact');
    expect(calls.filter((call) => call === 'uuid')).toHaveLength(1);
  });
});

describe('images that the user sends meanwhile', () => {
  const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'too large' } } as const;

  it('are left out with a note or scaled, keep their order, and wait in queued until then', async () => {
    let release = (): void => {};
    const scaled = new Promise<void>((resolve) => (release = resolve));
    const scaleImage = async (): Promise<never> => {
      await scaled;
      throw new Error('no scaler here');
    };
    const big = { ...image, source: { ...image.source, data: Buffer.alloc(6_000_000).toString('base64') } };
    const { query: started, model } = scriptedQuery([useEcho('t1'), done], { deps: { scaleImage } });
    const first = started.send([big]);
    const second = started.send('after the image');
    expect(started.queued.map(({ id }) => id)).toEqual([first, second]);
    release();
    await settle();
    await drain(started);
    const told = JSON.stringify(model.requests[1]?.messages);
    expect(told).toMatch(/An image was left out: .*after the image/);
    expect(model.violations).toEqual([]);
  });

  it('that end the query are fitted by the next one', async () => {
    const big = { ...image, source: { ...image.source, data: Buffer.alloc(6_000_000).toString('base64') } };
    const scaleImage = (): Promise<never> => Promise.reject(new Error('no scaler here'));
    const { query: started } = scriptedQuery([done], { deps: { scaleImage } });
    started.submit([big]);
    await drain(started);
    const next = scriptedQuery([done], { queued: started.queued, deps: { scaleImage } });
    await drain(next.query);
    expect(JSON.stringify(next.model.requests[0]?.messages)).toContain('An image was left out');
  });
});
