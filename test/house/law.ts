/** Who may import whom, as data. `test/oxlint.json` says the same to the linter; `lint.test.ts` holds the two together. */
import path from 'node:path';

const folders = [
  'core',
  'process',
  'markdown',
  'effects',
  'model',
  'tools',
  'hooks',
  'mcp',
  'settings',
  'session',
  'inspect',
  'agents',
  'memory',
  'skills',
  'cli',
  'testing',
] as const;

/** `front`: the files of `src` itself that join the folders, such as `query.ts`; `clock` is the one that they share. */
type Area = (typeof folders)[number] | 'machines' | 'clock' | 'front';

interface Law {
  /** Areas beside its own that it may import. */
  readonly areas: readonly Area[];
  /** Areas of which it may import types alone. */
  readonly types?: readonly Area[];
  /** Packages, and `node:` for those of Node. Default: all. */
  readonly packages?: readonly string[];
}

const parts = [
  'core',
  'process',
  'markdown',
  'effects',
  'model',
  'tools',
  'hooks',
  'mcp',
  'settings',
  'session',
  'inspect',
  'agents',
  'memory',
  'skills',
  'machines',
  'clock',
] as const;

const laws: { readonly [Name in Area]: Law } = {
  core: { areas: [], packages: [] },
  clock: { areas: [], packages: [] },
  machines: { areas: ['core'], types: ['effects'], packages: ['xstate'] },
  session: { areas: ['core', 'clock'] },
  inspect: { areas: ['core', 'clock'], types: ['session'] },
  process: { areas: ['core', 'clock'] },
  markdown: { areas: [], packages: ['yaml'] },
  tools: { areas: ['core', 'clock', 'process'] },
  hooks: { areas: ['core', 'clock', 'process'], types: ['tools'] },
  mcp: { areas: ['core', 'clock', 'process', 'tools'] },
  settings: { areas: ['core', 'clock', 'tools', 'hooks'] },
  model: { areas: ['core', 'clock'], packages: ['@anthropic-ai/sdk', 'node:'] },
  effects: { areas: ['core', 'clock', 'model', 'tools', 'hooks'] },
  agents: { areas: ['core', 'clock', 'markdown', 'tools'] },
  memory: { areas: ['core', 'clock', 'markdown', 'tools'], types: ['effects'] },
  skills: { areas: ['core', 'clock', 'markdown', 'tools'], types: ['effects'] },
  front: { areas: parts },
  testing: { areas: [...parts, 'front'] },
  cli: { areas: [...parts, 'front', 'testing'] },
};

interface Import {
  readonly specifier: string;
  /** `import type`: gone when it runs. */
  readonly typeOnly: boolean;
}

const statement =
  /^[ \t]*(?:import|export)\b(?<type>\s+type\b(?!\s+from\b|\s*,))?(?<names>[^'"`;=()]*?\bfrom)?\s*(?<quote>['"])(?<from>[^'"]+)\k<quote>/gm;
const call = /\b(?:import|require)\(\s*(?<quote>['"`])(?<from>[^'"`]+)\k<quote>/g;

/** Every import, re-export and literal dynamic import of a file's text. */
export function importsOf(text: string): readonly Import[] {
  const statements = [...text.matchAll(statement)].map((match) => ({
    specifier: match.groups?.['from'] ?? '',
    typeOnly: match.groups?.['type'] !== undefined,
  }));
  const calls = [...text.matchAll(call)].map((match) => ({ specifier: match.groups?.['from'] ?? '', typeOnly: false }));
  return [...statements, ...calls];
}

/** The area of a file, by its path from the top of the repository with `/`; null outside of `src` and `machines`. */
function areaOf(file: string): Area | null {
  const [top, second, third] = file.split('/');
  if (top === 'machines') return 'machines';
  if (top !== 'src' || second === undefined) return null;
  if (third === undefined) return second === 'clock.ts' ? 'clock' : 'front';
  return folders.find((folder) => folder === second) ?? null;
}

/** What is wrong with an import of `file`, or null. */
export function faultOf(file: string, { specifier, typeOnly }: Import): string | null {
  const area = areaOf(file);
  if (area === null) return `${file} stands in a folder that has no law in test/house/law.ts`;
  const fault = `${file}: ${area} may not import ${specifier}`;
  const { areas, types = [], packages } = laws[area];
  if (!specifier.startsWith('.')) {
    const name = packageOf(specifier);
    return packages === undefined || packages.includes(name) ? null : fault;
  }
  const target = path.posix.join(path.posix.dirname(file), specifier);
  const imported = areaOf(target);
  if (imported === null) return fault;
  if (imported === area || areas.includes(imported)) return null;
  if (!types.includes(imported)) return fault;
  return typeOnly ? null : `${fault}, but for its types (\`import type\`)`;
}

function packageOf(specifier: string): string {
  if (specifier.startsWith('node:')) return 'node:';
  const [first = '', second = ''] = specifier.split('/');
  return first.startsWith('@') ? `${first}/${second}` : first;
}
