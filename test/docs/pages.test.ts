/** What the pages of the documentation say, held against the sources: links, commands, options, names. */
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { defaultConfig } from '../../src/core/config.ts';
import { continues } from '../../src/core/continue.ts';
import type { EffectName } from '../../src/core/effect.ts';
import type { EventType } from '../../src/core/event.ts';
import type { Emitted } from '../../src/core/output.ts';
import type { CompletedOutcome } from '../../src/core/state.ts';
import { terminals } from '../../src/core/terminal.ts';
import { type LoopOptions, loopOptionsSchema } from '../../src/options.ts';
import type { QueryOptions } from '../../src/prepare.ts';
import type { ToolDefinition } from '../../src/tools/tool.ts';
import { blocksOf, pages, root, tableUnder, textOf } from './markdown.ts';

interface Manifest {
  readonly scripts: Readonly<Record<string, string>>;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
}

const manifest = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')) as Manifest;
const embedding = 'docs/embedding.md';

/** The names in the first column of a table: `code`, perhaps several in one cell. */
function names(page: string, heading: string, column = 0): readonly string[] {
  return tableUnder(page, heading).flatMap((row) => codes(row[column] ?? ''));
}

function codes(cell: string): readonly string[] {
  return [...cell.matchAll(/`([^`]+)`/g)].map((match) => match[1] ?? '');
}

/** Every member of a type, so that the compiler finds the one that is missing here. */
function all<Name extends string>(members: Readonly<Record<Name, true>>): readonly string[] {
  return Object.keys(members).toSorted();
}

/** The text of a page without its fenced blocks. */
function proseOf(page: string): string {
  return textOf(page).replaceAll(/^```[^\n]*\n[\s\S]*?^```$/gm, '');
}

/** What a heading is called in a link. */
function anchorOf(heading: string): string {
  const text = heading.replace(/^#+ /, '').toLowerCase();
  return text.replaceAll(/[^\w\- ]/g, '').replaceAll(' ', '-');
}

describe('links', () => {
  it.each(pages())('of %s lead to what is there', (page) => {
    const links = [...proseOf(page).matchAll(/\]\((?<to>[^)\s]+)\)/g)].map((match) => match.groups?.['to'] ?? '');
    const broken = links.filter((link) => !/^https?:/.test(link) && !isThere(page, link));
    expect(broken).toEqual([]);
  });
});

function isThere(page: string, link: string): boolean {
  const [to = '', anchor = ''] = link.split('#');
  const target = to === '' ? page : path.posix.join(path.posix.dirname(page), to);
  if (!existsSync(path.join(root, target))) return false;
  if (anchor === '') return true;
  const headings = proseOf(target).split('\n').filter((line) => /^#+ /.test(line));
  return headings.map(anchorOf).includes(anchor);
}

describe('README.md', () => {
  const commands = blocksOf('README.md')
    .filter((block) => block.language === 'sh')
    .flatMap((block) => block.text.split('\n'));

  it('gives the two commands', () => {
    expect(commands).toEqual(expect.arrayContaining(['npm ci && npm start', 'npm ci && npm test']));
  });

  it('names scripts that the package has', () => {
    const scripts = commands.flatMap((line) => [...line.matchAll(/npm (?:run )?(?!ci\b|install\b|pack\b)([\w:]+)/g)]);
    expect(scripts.map((match) => match[1]).filter((name) => !(name! in manifest.scripts))).toEqual([]);
  });
});

describe('every page', () => {
  it.each(pages())('%s speaks of the product alone', (page) => {
    const text = textOf(page);
    expect(text).not.toMatch(/\/(?:work|tmp|home|root)\/[\w-]/);
    expect(text).not.toMatch(/\bworkplace\b|\bloop contract\b/i);
  });
});

describe('the table of options', () => {
  const groups = ['### Model', '### Limits of the query', '### Context'];
  const nested = ['limits', 'delays', 'buffers'] as const;

  it('lists each option that is plain data, once', () => {
    const listed = groups.flatMap((group) => names(embedding, group));
    expect(listed.toSorted()).toEqual(Object.keys(loopOptionsSchema.shape).toSorted());
  });

  it.each(nested)('lists each member of %s', (name) => {
    const shape = loopOptionsSchema.shape[name].unwrap().shape;
    expect(names(embedding, `### \`${name}\``).toSorted()).toEqual(Object.keys(shape).toSorted());
  });

  it('gives the defaults of the code', () => {
    const rows = groups.flatMap((group) => tableUnder(embedding, group));
    const wrong = rows.filter(([option = '', , shown = '']) => !isDefault(codes(option)[0] ?? '', shown));
    expect(wrong).toEqual([]);
  });

  it.each(nested)('gives the defaults of %s', (name) => {
    const defaults = defaultConfig[name] as unknown as Readonly<Record<string, number>>;
    const wrong = tableUnder(embedding, `### \`${name}\``).filter(
      ([option = '', , shown = '']) => shown !== shownDefault(defaults[codes(option)[0] ?? '']),
    );
    expect(wrong).toEqual([]);
  });

  it('lists each option of the host', () => {
    type HostOption = Exclude<keyof QueryOptions, keyof LoopOptions>;
    const host: Readonly<Record<HostOption, true>> = {
      prompt: true,
      messages: true,
      toolUseContext: true,
      queued: true,
      staged: true,
      apiKey: true,
      baseUrl: true,
      fetch: true,
      headers: true,
      tools: true,
      cwd: true,
      additionalRoots: true,
      rules: true,
      canUseTool: true,
      hooks: true,
      attachments: true,
      signal: true,
      abortGraceMs: true,
      idleTimeoutMs: true,
      deadlineMs: true,
      resultStore: true,
      journal: true,
      resume: true,
      inspect: true,
      beforeEvent: true,
      deps: true,
    };
    expect(names(embedding, '### The host').toSorted()).toEqual(all(host));
  });
});

/** Options that a caller gives in another form than the configuration holds. */
const reshaped: Readonly<Record<string, string>> = {
  model: shownDefault(defaultConfig.models[0]),
  fallbackModels: '`[]`',
  contextWindow: 'what the server says',
  modelMaxOutput: 'what the server says',
  limits: 'below',
  delays: 'below',
  buffers: 'below',
};

function isDefault(option: string, shown: string): boolean {
  const inConfig = (defaultConfig as unknown as Readonly<Record<string, unknown>>)[option];
  return shown === (reshaped[option] ?? shownDefault(inConfig));
}

function shownDefault(value: unknown): string {
  if (typeof value === 'number') return `\`${value.toLocaleString('en-US')}\``;
  return `\`${typeof value === 'string' ? `'${value}'` : String(value)}\``;
}

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
    };
    expect(names('docs/effects.md', '## The effects').toSorted()).toEqual(all(effects));
    expect(names('docs/effects.md', '## The events').toSorted()).toEqual(all(events));
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
    expect(Object.keys(continues)).toHaveLength(7);
  });

  it('of dependencies', () => {
    const page = 'docs/decisions/0001-dependencies.md';
    expect(names(page, '## At run time').toSorted()).toEqual(Object.keys(manifest.dependencies).toSorted());
    expect(names(page, '## For development').toSorted()).toEqual(Object.keys(manifest.devDependencies).toSorted());
  });
});
