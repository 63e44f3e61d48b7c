/** The tables of options, held against the schema, the types and the defaults. */
import { describe, expect, it } from 'vitest';
import { defaultConfig } from '../../src/core/config.ts';
import { type LoopOptions, loopOptionsSchema } from '../../src/options.ts';
import type { QueryOptions } from '../../src/query-options.ts';
import { all, codes, names, tableUnder } from './markdown.ts';

const embedding = 'docs/embedding.md';

describe('the table of options', () => {
  const groups = ['### Model', '### Limits of the query', '### Context'];
  const nested = ['limits', 'layers', 'delays', 'buffers'] as const;

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
      session: true,
      compact: true,
      apiKey: true,
      baseUrl: true,
      fetch: true,
      headers: true,
      tools: true,
      mcpServers: true,
      agents: true,
      journalOf: true,
      cwd: true,
      additionalRoots: true,
      rules: true,
      canUseTool: true,
      hooks: true,
      settingSources: true,
      settings: true,
      trusted: true,
      attachments: true,
      memory: true,
      skills: true,
      fileChanges: true,
      appendSystem: true,
      signal: true,
      abortGraceMs: true,
      idleTimeoutMs: true,
      deadlineMs: true,
      resultStore: true,
      log: true,
      journal: true,
      resume: true,
      inspect: true,
      parent: true,
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
  onDemandCompaction: 'what the server says',
  promptBudget: '`false`',
  prices: '`{}`',
  limits: 'below',
  layers: 'below',
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
