/** Memory files of folders below the start: read while the model still streams, attached once their folder is touched. */
import { stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { JsonObject } from '../core/json.ts';
import type { PermissionRule } from '../core/tools/context.ts';
import type { AttachmentSource } from '../effects/collect-attachments.ts';
import { absolutePath, isWithin } from '../tools/paths.ts';
import { hiddenBy } from '../tools/permission-rules.ts';
import type { ToolRegistry } from '../tools/registry.ts';
import { type LoadedMemory, loadMemory, type MemoryPlace } from './load-memory.ts';
import { type MemoryRequest, type ReadMemory, readMemoryFile } from './memory-file.ts';
import { nestedMemoryText } from './memory-text.ts';
import { foldersBetween, memoryPathsOf } from './places.ts';

export interface NestedMemoryOptions {
  readonly cwd: string;
  /** Folders that tools may touch, `cwd` among them. */
  readonly roots: readonly string[];
  readonly rules: readonly PermissionRule[];
  /** Home folder of the user; null: `~` leads nowhere. */
  readonly home: string | null;
  /** Real paths of the files that the system prompt holds. */
  readonly isKnown: (realPath: string) => boolean;
}

/** A tool call as far as it names files. */
export interface TouchingCall {
  readonly name: string;
  readonly input: JsonObject;
}

export class NestedMemory {
  readonly #options: NestedMemoryOptions;
  readonly #touched = new Set<string>();
  readonly #read = new Map<string, Promise<ReadMemory>>();

  constructor(options: NestedMemoryOptions) {
    this.#options = options;
  }

  /** A call is whole, though it may never run: begins to read. Never throws. */
  readonly expect = (call: TouchingCall, registry: ToolRegistry): void => {
    const paths = pathsOf(call, registry, this.#options.cwd);
    if (paths.length > 0) void this.#load(paths, [], new Set(), this.#prefetch);
  };

  /** A call runs: what belongs to its folders is attached behind its results. Never throws. */
  readonly touch = (call: TouchingCall, registry: ToolRegistry): void => {
    for (const path of pathsOf(call, registry, this.#options.cwd)) this.#touched.add(path);
  };

  /** The files of touched folders that the model has not seen; a file that it read itself it has seen. */
  readonly nestedMemory: AttachmentSource = async ({ context }) => {
    const { isKnown } = this.#options;
    // After a resumption nobody knows what was touched, but for the files that were read.
    const paths = [...this.#touched, ...Object.keys(context.filesRead)];
    this.#touched.clear();
    const loaded = await this.#load(paths, context.addedRules, new Set(Object.keys(context.filesRead)), this.#recall);
    this.#read.clear();
    const files = loaded.files.filter(({ realPath }) => !isKnown(realPath));
    return {
      messages: files.length === 0 ? [] : [[{ type: 'text', text: nestedMemoryText(files) }]],
      contextChanges: files.map(({ realPath, record }) => ({ type: 'fileRead', path: realPath, record })),
      notices: files.length === 0 ? [] : loaded.notices,
    };
  };

  async #load(
    paths: readonly string[],
    addedRules: readonly PermissionRule[],
    known: ReadonlySet<string>,
    read: typeof readMemoryFile,
  ): Promise<LoadedMemory> {
    const { rules, cwd, home } = this.#options;
    const isHidden = hiddenBy([...rules, ...addedRules], ['Read'], cwd);
    const folders = new Set((await Promise.all(paths.map((path) => this.#foldersOf(path)))).flat());
    const places = [...folders].flatMap((folder): readonly MemoryPlace[] => {
      const within = this.#options.roots.filter((root) => isWithin(root, folder));
      return memoryPathsOf(folder).map((path) => ({ path, within, isHidden, level: 'project' }));
    });
    return loadMemory(places, home, known, read);
  }

  /** From the root that a path is in down to its folder. The files of `cwd` itself stand in the system prompt. */
  async #foldersOf(path: string): Promise<readonly string[]> {
    const { cwd, roots } = this.#options;
    const root = roots.find((candidate) => isWithin(candidate, path));
    if (root === undefined) return [];
    const isFolder = await stat(path).then(
      (stats) => stats.isDirectory(),
      () => false,
    );
    return foldersBetween(root, isFolder ? path : dirname(path)).filter((folder) => folder !== cwd);
  }

  readonly #prefetch = (request: MemoryRequest): Promise<ReadMemory> => {
    const reading = this.#read.get(request.path) ?? readMemoryFile(request);
    this.#read.set(request.path, reading);
    return reading;
  };

  /** What was read ahead, if it still stands so. */
  readonly #recall = async (request: MemoryRequest): Promise<ReadMemory> => {
    const read = await this.#read.get(request.path);
    if (read?.type !== 'file' || request.isHidden(read.file.realPath)) return readMemoryFile(request);
    const stats = await stat(request.path).catch(() => null);
    return stats?.mtimeMs === read.file.record.mtimeMs ? read : readMemoryFile(request);
  };
}

/** The files and folders that a call names; none for a call that cannot be read, or that is a command. */
function pathsOf({ name, input }: TouchingCall, registry: ToolRegistry, cwd: string): readonly string[] {
  try {
    const tool = registry.find(name);
    const parsed = tool?.input.safeParse(input);
    if (tool === null || parsed?.success !== true) return [];
    const target = tool.permissionTarget(parsed.data);
    return target.type === 'paths' ? target.paths.map((path) => absolutePath(path, cwd)) : [];
  } catch {
    return [];
  }
}
