/** What a query finds on disk for the model: memory files, skills, changes of files. Each is off unless it was asked for. */
import type { JsonObject } from './core/json.ts';
import type { EffectOf } from './core/effect.ts';
import type { PermissionRule } from './core/tools/context.ts';
import { changedFiles } from './effects/changed-files.ts';
import type { AttachmentSource } from './effects/collect-attachments.ts';
import { Memory, type MemoryOptions } from './memory/memory.ts';
import { foldersBetween, repositoryOf } from './memory/places.ts';
import { skillToolName } from './skills/skill-tool.ts';
import { type SkillOptions, Skills } from './skills/skills.ts';
import { createFileContents, type FileContents } from './tools/file-contents.ts';
import type { ToolRegistry } from './tools/registry.ts';
import type { Tool } from './tools/tool.ts';

/** Options of `query()` that let it read files which nobody named. */
export interface ContextOptions {
  /** Reads AGENTS.md and CLAUDE.md files of the user and the project as instructions. Default false. */
  readonly memory?: boolean | MemoryOptions;
  /** Offers the skills of the user and the project through a tool `Skill`. Default false. */
  readonly skills?: boolean | SkillOptions;
  /** Tells the model of files that changed on disk after a tool read them; `createFileContents()` serves several queries. Default false. */
  readonly fileChanges?: boolean | FileContents;
  /** Stands at the end of the system prompt, behind `system` and memory. Default: nothing. */
  readonly appendSystem?: string;
}

/** What the query begins with. */
interface FoundAtStart {
  readonly system: string;
  readonly notices: readonly string[];
}

export interface ContextSources {
  /** Reads memory and skills. Never rejects. */
  readonly start: (system: string) => Promise<FoundAtStart>;
  /** Tools of now; the same array until they change. */
  readonly tools: () => readonly Tool[];
  readonly attach: readonly AttachmentSource[];
  readonly contents: FileContents | null;
  /** Folders that tools may read beside the workspace. */
  readonly readRoots: () => readonly string[];
  /** A tool call is whole, though it may never run. Never throws. */
  readonly expect: (name: string, input: JsonObject, registry: ToolRegistry) => void;
  /** A tool call begins. Never throws. */
  readonly touch: (effect: EffectOf<'runTool'>, registry: ToolRegistry) => void;
}

/** What the sources need of the query. */
export interface ContextDeps {
  readonly cwd: string;
  readonly roots: readonly string[];
  readonly rules: readonly PermissionRule[];
}

/** Puts the sources together; reads nothing yet. */
export function contextSources(options: ContextOptions, deps: ContextDeps): ContextSources {
  const { cwd, rules } = deps;
  const memory = options.memory ? new Memory(optionsIn(options.memory), deps) : null;
  const skills = options.skills ? new Skills(optionsIn(options.skills), () => projectFolders(cwd)) : null;
  const contents = contentsOf(options.fileChanges);
  return {
    async start(system) {
      const found = await memory?.start();
      const broken = (await skills?.refresh()) ?? [];
      const parts = [system, found?.text ?? '', options.appendSystem ?? ''];
      const notices = [...(found?.notices ?? []), ...broken];
      return { system: parts.filter((part) => part.trim() !== '').join('\n\n'), notices };
    },
    tools: skills?.tools ?? none,
    attach: [
      ...(skills === null ? [] : [skills.skills]),
      ...(contents === null ? [] : [changedFiles({ contents, rules, cwd })]),
      ...(memory === null ? [] : [memory.nested.nestedMemory]),
    ],
    contents,
    readRoots: skills?.readRoots ?? none,
    expect: (name, input, registry) => memory?.nested.expect({ name, input }, registry),
    touch: (effect, registry) => memory?.nested.touch(effect, registry),
  };
}

/** The folders from `cwd` up to that of its repository. */
export async function projectFolders(cwd: string): Promise<readonly string[]> {
  return foldersBetween(await repositoryOf(cwd), cwd).toReversed();
}

const nothing: readonly never[] = [];
const none = (): readonly never[] => nothing;

function optionsIn<Options extends object>(option: true | Options): Options | Record<string, never> {
  return option === true ? {} : option;
}

function contentsOf(option: ContextOptions['fileChanges']): FileContents | null {
  if (option === undefined || option === false) return null;
  return option === true ? createFileContents() : option;
}

/**
 * Checks the options.
 *
 * @throws TypeError with one sentence.
 */
export function checkContext({
  memory,
  skills,
  fileChanges,
  appendSystem,
  tools = [],
}: ContextOptions & { readonly tools?: readonly Tool[] }): void {
  for (const [name, option] of Object.entries({ memory, skills })) {
    const given: unknown = option;
    if (given === undefined || typeof given === 'boolean' || isHome(given)) continue;
    throw new TypeError(`The option ${name} must be true, false or { home: '/a/folder' }, where null means no home.`);
  }
  const contents: unknown = fileChanges;
  const isContents = typeof contents === 'object' && contents !== null && 'keep' in contents && 'find' in contents;
  if (contents !== undefined && typeof contents !== 'boolean' && !isContents) {
    throw new TypeError('The option fileChanges must be true, false or what createFileContents() gives.');
  }
  if (skills && tools.some(({ name, aliases }) => [name, ...aliases].includes(skillToolName))) {
    throw new TypeError(
      `The option skills adds a tool ${skillToolName}, and there is one of that name in tools: rename it, or leave skills out.`,
    );
  }
  const text: unknown = appendSystem;
  if (text !== undefined && typeof text !== 'string') throw new TypeError('The option appendSystem must be a text.');
}

function isHome(given: unknown): boolean {
  if (typeof given !== 'object' || given === null || Object.keys(given).some((key) => key !== 'home')) return false;
  const home: unknown = 'home' in given ? given.home : undefined;
  return home === undefined || home === null || typeof home === 'string';
}
