/** The conversation as a file, for commands that read it: JSON lines in the form that hooks of Claude Code expect. */
import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Message } from '../../core/message.ts';

/** Written when a hook wants it, and never read back. */
export class Transcript {
  readonly #folder: string;
  #messages: readonly Message[] = [];
  /** Ids of the messages in the file. */
  #written: readonly string[] | null = null;

  /** `folder`: where the files go. Default: a folder of the temporary folder. */
  constructor(folder: string = join(tmpdir(), 'escapement', 'transcripts')) {
    this.#folder = folder;
  }

  /** Told of the conversation as often as one likes: it costs nothing. */
  follow(messages: readonly Message[]): void {
    this.#messages = messages;
  }

  /** Absolute path of the file of a session, brought up to date; where it cannot be written it is not there. */
  pathOf(sessionId: string, cwd: string): string {
    const file = join(this.#folder, `${sessionId.replaceAll(/[^\w.-]/g, '_')}.jsonl`);
    const ids = this.#messages.map(({ id }) => id);
    const known = this.#written;
    const goesOn = known !== null && known.every((id, index) => id === ids[index]);
    const fresh = goesOn ? this.#messages.slice(known.length) : this.#messages;
    if (goesOn && fresh.length === 0) return file;
    try {
      mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
      const lines = fresh.map((message) => `${JSON.stringify(lineOf(message, sessionId, cwd))}\n`).join('');
      if (goesOn) appendFileSync(file, lines);
      else writeFileSync(file, lines, { mode: 0o600 });
      this.#written = ids;
    } catch {
      // A hook that does not read it must not fail for it.
      this.#written = null;
    }
    return file;
  }
}

function lineOf({ role, content, id }: Message, sessionId: string, cwd: string): object {
  return { type: role, message: { role, content }, uuid: id, sessionId, cwd };
}
