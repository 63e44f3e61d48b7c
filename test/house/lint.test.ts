/** The linter is asked about planted faults, so that a rule which stopped to bite is noticed; `law.ts` must agree. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { faultOf, importsOf } from './law.ts';

const root = path.resolve(import.meta.dirname, '../..');

/** Folder of the planted file, and the line planted in it. */
const forbidden: readonly (readonly [string, string])[] = [
  ['src/markdown', `import '../core/json.ts';`],
  ['src/core', `import '../clock.ts';`],
  ['src/core', `import '../tools/tool.ts';`],
  ['src/core', `import type { A } from '../effects/io.ts';`],
  ['src/core', `import type { A } from '../../machines/agent-loop.ts';`],
  ['src/core', `import 'node:fs';`],
  ['src/core', `import 'fs';`],
  ['src/core', `import { createMachine } from 'xstate';`],
  ['src/core', `import type { z } from 'zod';`],
  ['src/core', `export { z } from 'zod/v4';`],
  ['src/core', `import Anthropic from '@anthropic-ai/sdk';`],
  ['src/core', `export const late = await import('xstate');`],
  ['src/core/wire', `import '../../clock.ts';`],
  ['src/core/wire', `import '../../tools/tool.ts';`],
  ['src/core/wire', `import 'zod';`],
  ['src', `import './cli/main.ts';`],
  ['src', `import './testing/index.ts';`],
  ['machines', `import '../src/clock.ts';`],
  ['machines', `import '../src/query.ts';`],
  ['machines', `import '../src/tools/tool.ts';`],
  ['machines', `import { effects } from '../src/effects/actors.ts';`],
  ['machines', `import 'zod';`],
  ['machines', `import 'node:fs';`],
  ...['effects', 'hooks', 'tools', 'model', 'inspect', 'cli', 'testing'].flatMap((folder) => [
    ['src/session', `import '../${folder}/file.ts';`] as const,
    ['src/session/store', `import '../../${folder}/file.ts';`] as const,
  ]),
  ['src/session', `import '../query.ts';`],
  ['src/session', `import '../../machines/agent-loop.ts';`],
  ...['effects', 'hooks', 'tools', 'model', 'session', 'cli', 'testing'].flatMap((folder) => [
    ['src/inspect', `import '../${folder}/file.ts';`] as const,
    ['src/inspect/page', `import '../../${folder}/file.ts';`] as const,
  ]),
  ...['effects', 'hooks', 'session', 'model', 'inspect', 'cli', 'testing'].flatMap((folder) => [
    ['src/tools', `import '../${folder}/file.ts';`] as const,
    ['src/tools/builtin', `import '../../${folder}/file.ts';`] as const,
  ]),
  ...['effects', 'tools', 'session', 'model', 'inspect', 'cli', 'testing'].flatMap((folder) => [
    ['src/hooks', `import '../${folder}/file.ts';`] as const,
    ['src/hooks/command', `import '../../${folder}/file.ts';`] as const,
  ]),
  ...['effects', 'hooks', 'session', 'model', 'inspect', 'cli', 'testing'].flatMap((folder) => [
    ['src/mcp', `import '../${folder}/file.ts';`] as const,
    ['src/mcp/http', `import '../../${folder}/file.ts';`] as const,
  ]),
  ...['effects', 'tools', 'hooks', 'session', 'model', 'settings', 'inspect', 'cli', 'testing'].flatMap((folder) => [
    ['src/process', `import '../${folder}/file.ts';`] as const,
    ['src/process/part', `import '../../${folder}/file.ts';`] as const,
  ]),
  ...['effects', 'session', 'model', 'inspect', 'process', 'cli', 'testing'].flatMap((folder) => [
    ['src/settings', `import '../${folder}/file.ts';`] as const,
    ['src/settings/part', `import '../../${folder}/file.ts';`] as const,
  ]),
  ...['hooks', 'session', 'model', 'inspect', 'cli', 'testing'].flatMap((folder) => [
    ['src/memory', `import '../${folder}/file.ts';`] as const,
    ['src/skills', `import '../${folder}/file.ts';`] as const,
    ['src/memory/part', `import '../../${folder}/file.ts';`] as const,
  ]),
  ...['effects', 'tools', 'session', 'hooks', 'inspect', 'cli', 'testing'].flatMap((folder) => [
    ['src/model', `import '../${folder}/file.ts';`] as const,
    ['src/model/stream', `import '../../${folder}/file.ts';`] as const,
  ]),
  ...['effects', 'hooks', 'session', 'model', 'inspect', 'cli', 'testing'].flatMap((folder) => [
    ['src/agents', `import '../${folder}/file.ts';`] as const,
    ['src/agents/files', `import '../../${folder}/file.ts';`] as const,
  ]),
  ['src/model', `import 'zod';`],
  ['src/model', `import '@anthropic-ai/other';`],
  ['src/model', `import 'xstate';`],
  ...['session', 'inspect', 'cli', 'testing'].flatMap((folder) => [
    ['src/effects', `import '../${folder}/file.ts';`] as const,
    ['src/effects/part', `import '../../${folder}/file.ts';`] as const,
  ]),
  ['src/effects', `import '../query.ts';`],
  ['src/effects', `import '../../machines/agent-loop.ts';`],
  ['src/testing', `import '../cli/main.ts';`],
  ['src/testing/server', `import '../../cli/main.ts';`],
];

const allowed: readonly (readonly [string, string])[] = [
  ['src/agents', `import '../markdown/front-matter.ts';`],
  ['src/skills', `import '../markdown/front-matter.ts';`],
  ['src/core', `import './state.ts';`],
  ['src/core', `import './wire/request.ts';`],
  ['src/core/wire', `import '../state.ts';`],
  ['src/core/wire', `import '../tools/context.ts';`],
  ['src', `import './core/state.ts';`],
  ['src', `import '../machines/agent-loop.ts';`],
  ['src', `import './effects/actors.ts';`],
  ['src', `import './options.ts';`],
  ['machines', `import '../src/core/table.ts';`],
  ['machines', `import '../src/core/tools/context.ts';`],
  ['machines', `import type { A } from '../src/effects/io.ts';`],
  ['machines', `import { createMachine } from 'xstate';`],
  ['machines', `import { getShortestPaths } from 'xstate/graph';`],
  ['src/session', `import '../core/state.ts';`],
  ['src/session', `import '../clock.ts';`],
  ['src/session', `import 'node:fs/promises';`],
  ['src/session/store', `import '../../core/state.ts';`],
  ['src/session/store', `import '../journal.ts';`],
  ['src/inspect', `import type { A } from '../session/journal.ts';`],
  ['src/inspect/page', `import type { A } from '../../session/journal.ts';`],
  ['src/tools', `import '../core/tools/context.ts';`],
  ['src/tools', `import { z } from 'zod';`],
  ['src/tools/builtin', `import '../tool.ts';`],
  ['src/tools/builtin', `import '../../clock.ts';`],
  ['src/hooks', `import type { A } from '../tools/tool.ts';`],
  ['src/hooks', `import '../clock.ts';`],
  ['src/hooks', `import '../core/message.ts';`],
  ['src/process', `import '../clock.ts';`],
  ['src/tools', `import '../process/shell.ts';`],
  ['src/tools/builtin', `import '../../process/shell.ts';`],
  ['src/hooks', `import '../process/shell.ts';`],
  ['src/settings', `import '../hooks/hook.ts';`],
  ['src/settings', `import '../tools/permission-rules.ts';`],
  ['src/memory', `import type { A } from '../effects/collect-attachments.ts';`],
  ['src/memory', `import { lexer } from 'marked';`],
  ['src/skills', `import '../tools/tool.ts';`],
  ['src/model', `import Anthropic from '@anthropic-ai/sdk';`],
  ['src/model', `import type { A } from '@anthropic-ai/sdk/resources';`],
  ['src/model', `import 'node:timers/promises';`],
  ['src/model', `import '../core/failure.ts';`],
  ['src/model', `import '../clock.ts';`],
  ['src/effects', `import '../model/stream.ts';`],
  ['src/effects', `import '../tools/tool.ts';`],
  ['src/effects', `import '../hooks/hook.ts';`],
  ['src/effects', `import '../core/event.ts';`],
  ['src/effects', `import { fromCallback } from 'xstate';`],
  ['src/testing', `import '../query.ts';`],
  ['src/testing', `import '../model/stream.ts';`],
  ['src/cli', `import '../query.ts';`],
  ['src/cli', `import '../testing/index.ts';`],
];

/** Code that makes a core impure. */
const impure = [
  'Date.now()',
  'new Date()',
  'Math.random()',
  'setTimeout(String, 1)',
  'setInterval(String, 1)',
  'queueMicrotask(String)',
  `console.log('')`,
  'process.env',
  'performance.now()',
  'crypto.randomUUID()',
  'globalThis.name',
  `fetch('')`,
  `'a'.localeCompare('b')`,
];

const rules = /no-restricted-(?:imports|globals|properties)|no-console/;
let folder = '';
let complaints: ReadonlyMap<string, number> = new Map();

interface Report {
  readonly diagnostics: readonly { readonly code: string; readonly filename: string }[];
}

const plants = [
  ...forbidden.map(([at, line], index) => ({ file: `${at}/forbidden-${index}.ts`, text: line })),
  ...allowed.map(([at, line], index) => ({ file: `${at}/allowed-${index}.ts`, text: line })),
  ...impure.map((code, index) => ({
    file: `src/core/impure-${index}.ts`,
    text: `export const value: unknown = ${code};`,
  })),
];

beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'escapement-house-'));
  for (const { file, text } of plants) {
    const target = path.join(folder, file);
    mkdirSync(path.dirname(target), { recursive: true });
    writeFileSync(target, `${text}\n`);
  }
  complaints = lint();
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** How often the linter complains of each planted file, by the rules of the house alone. */
function lint(): ReadonlyMap<string, number> {
  const oxlint = path.join(root, 'node_modules/oxlint/bin/oxlint');
  const config = path.join(root, 'test/oxlint.json');
  let output: string;
  try {
    output = execFileSync(process.execPath, [oxlint, '-c', config, '--format', 'json', '.'], {
      cwd: folder,
      encoding: 'utf8',
      // The linter looks for its type-aware half on the path.
      env: { ...process.env, PATH: [path.join(root, 'node_modules/.bin'), process.env['PATH']].join(path.delimiter) },
      maxBuffer: 2 ** 26,
    });
  } catch (error) {
    output = (error as { stdout: string }).stdout;
  }
  const found = new Map<string, number>();
  for (const { code, filename } of (JSON.parse(output) as Report).diagnostics) {
    if (rules.test(code)) found.set(filename, (found.get(filename) ?? 0) + 1);
  }
  return found;
}

function lawComplains(file: string, text: string): boolean {
  return importsOf(text).some((found) => faultOf(file, found) !== null);
}

describe('the linter and the law', () => {
  it.each(plants.slice(0, forbidden.length))('both refuse in $file: $text', ({ file, text }) => {
    expect({ law: lawComplains(file, text), linter: complaints.has(file) }).toEqual({ law: true, linter: true });
  });

  it.each(plants.slice(forbidden.length, forbidden.length + allowed.length))(
    'both allow in $file: $text',
    ({ file, text }) => {
      expect({ law: lawComplains(file, text), linter: complaints.has(file) }).toEqual({ law: false, linter: false });
    },
  );

  it.each(plants.slice(-impure.length))('the linter keeps the core pure: $text', ({ file }) => {
    expect(complaints.has(file)).toBe(true);
  });
});
