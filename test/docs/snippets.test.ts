/**
 * The examples of the documentation are programs: each is type-checked and run as it stands on the page, with the package
 * names led to the sources, against a scripted server. A `text` block marked `<!-- output -->` is what the one before prints.
 */
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/clock.ts';
import { ScriptedModel } from '../../src/testing/scripted-model.ts';
import { listen } from '../../src/testing/scripted-server.ts';
import { type Block, blocksOf, pages, root } from './markdown.ts';
import { models } from './models.ts';

const timeout = 120_000;

const entries: Readonly<Record<string, string>> = {
  escapement: 'src/index.ts',
  'escapement/core': 'src/core/index.ts',
  'escapement/machine': 'machines/agent-loop.ts',
  'escapement/testing': 'src/testing/index.ts',
};

interface Snippet {
  readonly name: string;
  readonly file: string;
  readonly block: Block;
  /** What it must print; null: not said. */
  readonly output: string | null;
}

/** A hidden folder, so that no other run of a tool over the tests takes the examples for sources. */
let folder = '';
const snippets: readonly Snippet[] = pages().flatMap(snippetsOf);

function snippetsOf(page: string): readonly Snippet[] {
  const blocks = blocksOf(page);
  return blocks.flatMap((block, index) => {
    if (block.language !== 'ts') return [];
    const next = blocks[index + 1];
    const output = next?.marks.has('output') === true ? next.text : null;
    const file = `${page.replace(/\.md$/, '').replaceAll('/', '-')}-${block.line}.ts`;
    return [{ name: `${page}:${block.line}`, file, block, output }];
  });
}

/** The example with the names of the package led to the sources, by the way from the folder. */
function toSources(text: string): string {
  return text.replaceAll(/from '(escapement(?:\/\w+)?)'/g, (_, name: string) => {
    const entry = entries[name];
    if (entry === undefined) throw new Error(`The package has no entry point ${name}.`);
    return `from '${path.relative(folder, path.join(root, entry)).split(path.sep).join('/')}'`;
  });
}

beforeAll(() => {
  folder = mkdtempSync(path.join(import.meta.dirname, '.snippets-'));
  for (const { file, block } of snippets)
    writeFileSync(path.join(folder, file), `${toSources(block.text)}\nexport {};\n`);
  const config = { extends: '../../../tsconfig.json', include: ['*.ts'], exclude: [] };
  writeFileSync(path.join(folder, 'tsconfig.json'), JSON.stringify(config));
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface Ran {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

function run(args: readonly string[], cwd: string, env: Readonly<Record<string, string>>): Promise<Ran> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, args, { cwd, env: { PATH: process.env['PATH'] ?? '', ...env } });
    let [stdout, stderr] = ['', ''];
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += text;
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr += text;
    });
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, stdout, stderr }));
  });
}

/** A folder as the examples expect it: one file to read. */
function workspace(): string {
  const made = mkdtempSync(path.join(tmpdir(), 'escapement-docs-'));
  mkdirSync(path.join(made, 'home'));
  writeFileSync(path.join(made, 'notes.txt'), 'Buy milk.\n');
  return made;
}

async function runSnippet({ file, block }: Snippet): Promise<Ran & { readonly violations: readonly string[] }> {
  const name = block.marks.get('model') ?? 'hello';
  const script = models[name];
  if (script === undefined) throw new Error(`test/docs/models.ts has no model ${name}.`);
  const model = new ScriptedModel({
    model: script,
    summary: [{ text: 'A summary.', repeat: true }],
    limits: { contextWindow: 200_000, maxOutput: 64_000 },
    clock: systemClock,
  });
  const server = await listen(model);
  const cwd = workspace();
  try {
    const env = { ANTHROPIC_BASE_URL: server.url, HOME: path.join(cwd, 'home'), NO_COLOR: '1' };
    const ran = await run([path.join(folder, file)], cwd, env);
    return { ...ran, violations: model.violations };
  } finally {
    await server.close();
    rmSync(cwd, { recursive: true, force: true });
  }
}

describe('the examples of the documentation', () => {
  it('are there', () => {
    expect(snippets.length).toBeGreaterThan(10);
  });

  it(
    'pass the compiler',
    async () => {
      const compiler = path.join(root, 'node_modules/typescript/bin/tsc');
      const { stdout } = await run([compiler, '-p', folder], root, {});
      expect(stdout).toBe('');
    },
    timeout,
  );

  it.concurrent.each(snippets)(
    '$name runs',
    async (snippet) => {
      const { code, stdout, stderr, violations } = await runSnippet(snippet);
      expect({ code, stderr, violations }).toEqual({ code: 0, stderr: '', violations: [] });
      if (snippet.output !== null) expect(stdout.trimEnd()).toBe(snippet.output);
    },
    timeout,
  );
});
