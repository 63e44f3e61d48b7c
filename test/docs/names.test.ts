/** Lists of names on the pages of the documentation, held against the types. */
import { describe, expect, it } from 'vitest';
import type { EffectName } from '../../src/core/effect.ts';
import type { EventType } from '../../src/core/event.ts';
import type { Emitted } from '../../src/core/output.ts';
import type { CompletedOutcome } from '../../src/core/state.ts';
import { terminals } from '../../src/core/terminal.ts';
import type { SimulationResult } from '../../src/testing/simulation-result.ts';
import type { ToolDefinition } from '../../src/tools/tool.ts';
import { all, names } from './markdown.ts';

const embedding = 'docs/embedding.md';

describe('lists of names', () => {
  it('of what a query shows', () => {
    type Shown = Emitted['type'];
    const shown: Readonly<Record<Shown, true>> = {
      delta: true,
      progress: true,
      assistant: true,
      user: true,
      tombstone: true,
      boundary: true,
      tool_use_summary: true,
      error: true,
      command: true,
      notice: true,
    };
    expect(names(embedding, '## What comes out').toSorted()).toEqual(all(shown));
  });

  it('of the members of a tool', () => {
    const members: Readonly<Record<keyof ToolDefinition, true>> = {
      name: true,
      aliases: true,
      description: true,
      isBuiltIn: true,
      rulesOf: true,
      input: true,
      inputSchema: true,
      isConcurrencySafe: true,
      isReadOnly: true,
      isReplaySafe: true,
      startsAgent: true,
      isEdit: true,
      maxResultSizeChars: true,
      timeoutMs: true,
      validate: true,
      backfill: true,
      permissionTarget: true,
      checkPermission: true,
      summary: true,
      run: true,
    };
    expect(names(embedding, '## Tools').toSorted()).toEqual(all(members));
  });

  it('of effects and events', () => {
    const effects: Readonly<Record<EffectName | 'cancel' | 'emit', true>> = {
      streamModel: true,
      compact: true,
      runTool: true,
      collectAttachments: true,
      runStopHooks: true,
      summarizeToolUse: true,
      summarizeSpan: true,
      cancel: true,
      emit: true,
    };
    const events: Readonly<Record<EventType, true>> = {
      'query.started': true,
      'query.resumed': true,
      abort: true,
      'message.queued': true,
      'model.blockEnded': true,
      'model.answered': true,
      'model.failed': true,
      'compact.answered': true,
      'compact.failed': true,
      'tool.decided': true,
      'tool.ended': true,
      'attachments.collected': true,
      'stopHooks.ended': true,
      'toolUse.summarized': true,
      'span.summarized': true,
      'context.cleared': true,
    };
    expect(names('docs/effects.md', '## The effects').toSorted()).toEqual(all(effects));
    expect(names('docs/effects.md', '## The events').toSorted()).toEqual(all(events));
  });

  it('of what a simulation gives', () => {
    const members: Readonly<Record<keyof SimulationResult, true>> = {
      name: true,
      terminal: true,
      terminals: true,
      transitions: true,
      turnCount: true,
      counts: true,
      bound: true,
      events: true,
      requests: true,
      emitted: true,
      messages: true,
      queued: true,
      violations: true,
      ms: true,
    };
    expect(names('docs/scenarios.md', '## The result').toSorted()).toEqual(all(members));
  });

  it('of terminals and outcomes', () => {
    const outcomes: Readonly<Record<CompletedOutcome, true>> = {
      done: true,
      budget_spent: true,
      output_limit: true,
      refusal: true,
      api_error: true,
      stop_hook_limit: true,
      empty: true,
      cost_limit: true,
      invalid_output: true,
    };
    expect(names('docs/terminals.md', '## The outcomes of `completed`').toSorted()).toEqual(all(outcomes));
    expect(names('docs/terminals.md', '## The ten').toSorted()).toEqual(Object.keys(terminals).toSorted());
  });
});
