import { describe, expect, it } from 'vitest';
import type { Message } from '../../../src/core/message.ts';
import { projectHistory } from '../../../src/core/wire/project.ts';
import type { WireMessage } from '../../../src/core/wire/request-type.ts';
import { validateRequest } from '../../../src/core/wire/validate.ts';

const user = (id: string, text: string): Message => ({
  role: 'user',
  id,
  origin: 'user',
  refused: false,
  content: [{ type: 'text', text }],
});

function turn(index: number): readonly Message[] {
  const use = `t${index}`;
  return [
    {
      role: 'assistant',
      id: `a${index}`,
      model: 'm',
      refused: false,
      content: [
        { type: 'thinking', thinking: 'hm', signature: 's' },
        { type: 'tool_use', id: use, name: 'read', input: {} },
      ],
    },
    {
      role: 'user',
      id: `r${index}`,
      origin: 'tool_results',
      refused: false,
      content: [{ type: 'tool_result', tool_use_id: use, content: [{ type: 'text', text: 'x' }], is_error: false }],
    },
  ];
}

const facts = { thinkingOf: 'm', endsPaused: false };

describe('projectHistory', () => {
  it('gives the same objects for what is unchanged: two new messages a turn, however long the session', () => {
    const seen = new Set<WireMessage>();
    let messages: readonly Message[] = [user('u', 'go')];
    for (let index = 0; index < 300; index += 1) {
      messages = [...messages, ...turn(index)];
      const before = seen.size;
      for (const message of projectHistory(messages, facts)) seen.add(message);
      expect(seen.size - before).toBe(index === 0 ? 3 : 2);
    }
  });

  it('is a projection: messages that were taken away or put in the middle are seen', () => {
    const all = [user('u', 'go'), ...turn(0), ...turn(1), ...turn(2)];
    const fresh = (messages: readonly Message[]): unknown =>
      projectHistory(JSON.parse(JSON.stringify(messages)) as readonly Message[], facts);
    expect(projectHistory(all, facts)).toEqual(fresh(all));
    const shorter = [...all.slice(0, 3), ...all.slice(5)];
    expect(projectHistory(shorter, facts)).toEqual(fresh(shorter));
    const longer = [...all.slice(0, 3), user('v', 'and'), ...all.slice(3)];
    expect(projectHistory(longer, facts)).toEqual(fresh(longer));
    expect(projectHistory(all, { ...facts, thinkingOf: null })).toEqual(
      projectHistory(JSON.parse(JSON.stringify(all)) as readonly Message[], { ...facts, thinkingOf: null }),
    );
  });

  it('puts what an error result showed behind the results', () => {
    const image = { type: 'image', source: { type: 'url', url: 'https://example.com/a' } } as const;
    const [asked, answered] = turn(0);
    const failed = { type: 'tool_result', tool_use_id: 't0', content: [image], is_error: true } as const;
    const messages = [user('u', 'go'), asked!, { ...answered!, content: [failed] } as Message, user('v', 'and')];
    expect(projectHistory(messages, facts)[2]?.content).toEqual([
      { ...failed, content: [{ type: 'text', text: '(no output)' }] },
      image,
      { type: 'text', text: 'and' },
    ]);
  });

  it('answers a tool of ours before a paused answer goes back', () => {
    const server = { type: 'server_tool_use', id: 's1', name: 'web_search', input: {} } as const;
    const paused = (content: Message['content']): Message => ({ ...turn(0)[0]!, content }) as Message;
    const ends = (last: Message): unknown =>
      projectHistory([user('u', 'go'), last], { ...facts, endsPaused: true }).map(({ role, content }) => [
        role,
        ...content.map(({ type }) => type),
      ]);
    expect(ends(paused([server]))).toEqual([
      ['user', 'text'],
      ['assistant', 'server_tool_use'],
    ]);
    expect(ends(paused([server, { type: 'tool_use', id: 't1', name: 'read', input: {} }]))).toEqual([
      ['user', 'text'],
      ['assistant', 'tool_use'],
      ['user', 'tool_result'],
    ]);
  });

  it.each<[string, readonly Message[]]>([
    ['nothing', []],
    ['only blank text', [user('u', ' ')]],
    ['an answer without a question', turn(0)],
    ['a tool use without its result', turn(0).slice(0, 1)],
    ['a result without its tool use', turn(0).slice(1)],
    ['text between a tool use and its result', [turn(0)[0]!, user('u', 'and'), turn(0)[1]!]],
    ['two questions', [user('u', 'one'), user('v', 'two')]],
    ['a refused turn', [{ ...user('u', 'bad'), refused: true }, user('v', 'hi')]],
  ])('is legal for %s', (_name, messages) => {
    const request = {
      model: 'm',
      max_tokens: 1,
      thinking: { type: 'adaptive' } as const,
      messages: projectHistory(messages, facts),
    };
    const limits = { contextWindow: 1_000, maxOutput: 100, estimate: null, profile: 'anthropic' } as const;
    expect(validateRequest(request, limits)).toEqual([]);
  });
});
