/** Loads memory files with what they import: each file once, twins once, within the limits. */
import { importedPath, importsIn, isSurelyPath } from './imports.ts';
import { type MemoryFile, memoryLimits, type MemoryRequest, readMemoryFile } from './memory-file.ts';

/** What was loaded, in the order in which the model sees it. */
export interface LoadedMemory {
  readonly files: readonly MemoryFile[];
  /** One sentence for each file that was cut, left out or could not be read. */
  readonly notices: readonly string[];
}

/** A file to load; one that is not there is passed over. */
export type MemoryPlace = Omit<MemoryRequest, 'importedBy'>;

/**
 * Loads the files at `places` in order, each followed by its imports. Left out: files whose real path is in `known`,
 * and files with the same text as one before (an AGENTS.md and a CLAUDE.md that are twins). Never rejects.
 */
export async function loadMemory(
  places: readonly MemoryPlace[],
  home: string | null,
  known: ReadonlySet<string> = new Set(),
  read: typeof readMemoryFile = readMemoryFile,
): Promise<LoadedMemory> {
  const loader = new Loader(home, known, read);
  for (const place of places) await loader.add({ ...place, importedBy: null }, 0, true);
  return { files: loader.files, notices: loader.notices };
}

class Loader {
  readonly files: MemoryFile[] = [];
  readonly notices: string[] = [];
  readonly #home: string | null;
  readonly #seen: Set<string>;
  readonly #read: typeof readMemoryFile;
  readonly #texts = new Set<string>();
  #characters = 0;

  constructor(home: string | null, known: ReadonlySet<string>, read: typeof readMemoryFile) {
    this.#home = home;
    this.#read = read;
    this.#seen = new Set(known);
  }

  /** `isMeant`: the file is surely meant, so that a word is due when it cannot be read. */
  async add(request: MemoryRequest, depth: number, isMeant: boolean): Promise<void> {
    const read = await this.#read(request);
    if (read.type === 'missing') {
      if (request.importedBy !== null && isMeant) {
        this.notices.push(`${request.importedBy} imports ${request.path}, which is not there.`);
      }
      return;
    }
    if (read.type === 'refused') {
      if (isMeant) this.notices.push(read.notice);
      return;
    }
    const { file, notice } = read;
    if (this.#seen.has(file.realPath)) return;
    this.#seen.add(file.realPath);
    if (!this.#take(file)) return;
    if (notice !== null) this.notices.push(notice);
    await this.#addImports(request, file, depth);
  }

  /** False when the file adds nothing, or too much. */
  #take(file: MemoryFile): boolean {
    if (file.text === '' || this.#texts.has(file.text)) return false;
    if (this.#characters + file.text.length > memoryLimits.totalCharacters) {
      const most = memoryLimits.totalCharacters;
      this.notices.push(`${file.path} was left out: all memory files together may have ${most} characters.`);
      return false;
    }
    this.#texts.add(file.text);
    this.#characters += file.text.length;
    this.files.push(file);
    return true;
  }

  async #addImports(request: MemoryRequest, file: MemoryFile, depth: number): Promise<void> {
    const written = importsIn(file.text);
    if (depth >= memoryLimits.importDepth) {
      const surely = written.filter(isSurelyPath);
      if (surely.length > 0) {
        this.notices.push(`${file.path} imports ${surely[0]}, deeper than ${memoryLimits.importDepth} imports.`);
      }
      return;
    }
    for (const path of written) {
      await this.add(
        { ...request, path: importedPath(path, file.realPath, this.#home ?? undefined), importedBy: file.path },
        depth + 1,
        isSurelyPath(path),
      );
    }
  }
}
