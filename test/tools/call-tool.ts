/** Runs one call through the pipeline with everything that a test does not care about filled in. */
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { type Clock, systemClock } from '../../src/clock.ts';
import type { PermissionMode } from '../../src/core/config.ts';
import type { JsonObject } from '../../src/core/json.ts';
import type { ToolDecision, ToolOutcome } from '../../src/core/state.ts';
import { applyChanges, type PermissionRule, type ToolUseContext } from '../../src/core/tools/context.ts';
import { type Hooks, noHooks } from '../../src/hooks/hook.ts';
import { createToolHooks } from '../../src/hooks/run-tool-hooks.ts';
import type { PipelineDeps } from '../../src/tools/call.ts';
import type { CanUseTool } from '../../src/tools/can-use-tool.ts';
import { runPipeline } from '../../src/tools/pipeline.ts';
import { createRegistry } from '../../src/tools/registry.ts';
import { createMemoryStore, type ResultStore } from '../../src/tools/result-store.ts';
import { type ScaleImage, scaleWithSharp } from '../../src/tools/scale-image.ts';
import type { Tool } from '../../src/tools/tool.ts';

export interface Setting {
  readonly tools: readonly Tool[];
  readonly cwd?: string;
  readonly roots?: readonly string[];
  readonly rules?: readonly PermissionRule[];
  readonly hooks?: Partial<Hooks>;
  readonly canUseTool?: CanUseTool;
  readonly store?: ResultStore;
  readonly scaleImage?: ScaleImage;
  readonly mode?: PermissionMode;
  readonly clock?: Clock;
  readonly signal?: AbortSignal;
  readonly decisions?: readonly ToolDecision[];
  readonly abortGraceMs?: number;
  readonly log?: (sentence: string) => void;
  readonly shared?: ToolUseContext;
}

export interface Called {
  readonly outcome: ToolOutcome;
  /** The texts of the outcome, joined. */
  readonly text: string;
  readonly decisions: readonly ToolDecision[];
  readonly notices: readonly string[];
  readonly progress: readonly string[];
}

export const emptyShared: ToolUseContext = {
  permissionMode: 'bypassPermissions',
  addedRules: [],
  filesRead: {},
  depth: 0,
  queryTracking: { chainId: 'chain', depth: 0 },
};

export function depsOf(setting: Setting): PipelineDeps {
  const cwd = setting.cwd ?? realpathSync(tmpdir());
  return {
    registry: () => createRegistry(setting.tools),
    hooks: createToolHooks({ ...noHooks, ...setting.hooks }),
    rules: setting.rules ?? [],
    canUseTool: setting.canUseTool ?? null,
    store: setting.store ?? createMemoryStore(),
    scaleImage: setting.scaleImage ?? scaleWithSharp,
    cwd,
    roots: [cwd, ...(setting.roots ?? [])],
    ...(setting.abortGraceMs === undefined ? {} : { abortGraceMs: setting.abortGraceMs }),
    ...(setting.log === undefined ? {} : { log: setting.log }),
  };
}

export async function callTool(setting: Setting, name: string, input: JsonObject): Promise<Called> {
  const decisions: ToolDecision[] = [];
  const notices: string[] = [];
  const progress: string[] = [];
  const shared = { ...(setting.shared ?? emptyShared), ...(setting.mode ? { permissionMode: setting.mode } : {}) };
  const outcome = await runPipeline(
    { toolUseId: 'toolu_1', name, input, shared, decisions: setting.decisions ?? [] },
    depsOf(setting),
    {
      clock: setting.clock ?? systemClock,
      signal: setting.signal ?? new AbortController().signal,
      progress: (text) => progress.push(text),
      decided: (decision) => decisions.push(decision),
      notice: (sentence) => notices.push(sentence),
      began: () => undefined,
    },
  );
  return { outcome, text: textOf(outcome), decisions, notices, progress };
}

function textOf({ content }: ToolOutcome): string {
  return content.map((block) => (block.type === 'text' ? block.text : `[${block.type}]`)).join('\n');
}

/** Calls that share what they read, as a query does. */
export function session(setting: Setting): (name: string, input: JsonObject) => Promise<Called> {
  let shared = setting.shared ?? emptyShared;
  return async (name, input) => {
    const called = await callTool({ ...setting, shared }, name, input);
    shared = applyChanges(shared, called.outcome.contextChanges);
    return called;
  };
}

/** A folder (real path) that is gone after the test. */
export function temporaryFolder(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'escapement-tools-')));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
