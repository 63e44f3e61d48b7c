import { describe, expect, it } from 'vitest';
import { parseTokens, takeBudget } from '../src/prompt-budget.ts';
import { drain, scriptedQuery } from './support/scripted.ts';

describe('a budget in a prompt', () => {
  it.each([
    ['+500k fix the bug', 'fix the bug', 500_000],
    ['fix the bug +500k', 'fix the bug', 500_000],
    ['  +1.5M\nfix\nthe bug ', 'fix\nthe bug', 1_500_000],
    ['fix the bug\n+50000\n', 'fix the bug', 50_000],
    ['+2k fix +3k', 'fix +3k', 2_000],
  ])('%j is %j with %d tokens', (text, prompt, tokens) => {
    expect(takeBudget(text)).toEqual({ prompt, tokens });
  });

  it.each([
    'what is 2 +2',
    'fix the +500k bug',
    'a+500k',
    '+500kb fix',
    '+0k fix',
    '+1.5 fix',
    '+500k',
    ' +500k ',
    'call +4915112345678',
    '+999m fix',
    '',
  ])('is not in %j', (text) => {
    expect(takeBudget(text)).toEqual({ prompt: text, tokens: null });
  });

  it.each([
    ['500k', 500_000],
    ['1.5m', 1_500_000],
    ['7', 7],
    ['0', null],
    ['-5k', null],
    ['five', null],
    ['0.0001k', null],
  ])('--budget %s is %s', (text, tokens) => {
    expect(parseTokens(text)).toBe(tokens);
  });
});

describe('query()', () => {
  const script = [
    { stream: [{ text: 'done' }, { stop: 'end_turn' }], usage: { input: 10, output: 2_000 }, repeat: true },
  ];

  it('leaves a prompt as it is, unless it is told to read it', async () => {
    const asIs = scriptedQuery(script, { prompt: 'go +2k' });
    expect((await drain(asIs.query)).terminal.outcome).toBe('done');
    expect(JSON.stringify(asIs.model.requests[0]?.messages)).toContain('go +2k');
    const read = scriptedQuery(script, { prompt: 'go +2k', promptBudget: true, tokenBudget: 1 });
    const { terminal } = await drain(read.query);
    expect(terminal).toMatchObject({ outcome: 'budget_spent', detail: '2000 of 2000 tokens used.' });
    expect(JSON.stringify(read.model.requests[0]?.messages)).not.toContain('+2k');
  });
});
