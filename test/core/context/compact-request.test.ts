import { describe, expect, it } from 'vitest';
import { defaultConfig } from '../../../src/core/config.ts';
import { buildCompactRequest } from '../../../src/core/context/compact-request.ts';
import { initialState } from '../../../src/core/initial-state.ts';
import { ingestMessages } from '../../../src/core/wire/ingest.ts';
import { describeViolations, validateRequest } from '../../../src/core/wire/validate.ts';

const seed = '00000000-0000-4000-8000-000000000000';
const config = { ...defaultConfig, models: ['m'], thinking: 2_048 };
const use = { type: 'tool_use', id: 't1', name: 'read', input: {} };
const thinking = { type: 'thinking', thinking: 'hm', signature: 's' };

describe('a compaction that the API performs', () => {
  it.each([
    ['begins with thinking', [thinking, use], { type: 'enabled', budget_tokens: 2_048 }],
    ['began without', [use], undefined],
  ])('thinks in a tool cycle that %s as the loop does', (_name, content, expected) => {
    const result = { type: 'tool_result', tool_use_id: 't1', content: 'x' };
    const messages = ingestMessages(
      [
        { role: 'user', content: 'go' },
        { role: 'assistant', content },
        { role: 'user', content: [result] },
      ],
      'm',
    );
    const state = initialState({ seed, messages }, config);
    const compaction = {
      effectId: '',
      kind: 'auto_compact',
      cures: null,
      cut: 3,
      skip: 0,
      shrinks: 0,
      trim: 1,
      onDemand: true,
    } as const;
    const request = buildCompactRequest(state, config, compaction);
    expect(request.thinking).toEqual(expected);
    const limits = { ...state.query.limits, estimate: null, profile: config.profile };
    expect(describeViolations(validateRequest(request, limits))).toBe('');
  });
});
