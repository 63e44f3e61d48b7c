/** Takes a range of lines out of a file that comes in chunks of bytes: linear, whatever the length of file or lines. */

/** A line, as far as it was kept. */
export interface WindowLine {
  readonly text: string;
  /** Bytes of the line that were left out because it is too long. */
  readonly omitted: number;
}

const newline = 0x0a;
const carriageReturn = 0x0d;

/** Push the chunks in order, then call `end()`. */
export class LineWindow {
  /** Lines of the window, in order. */
  readonly lines: WindowLine[] = [];
  readonly #first: number;
  readonly #last: number;
  readonly #longest: number;
  #number = 1;
  #parts: Buffer[] = [];
  #kept = 0;
  #omitted = 0;
  /** Bytes of the line under way, kept or not. */
  #length = 0;

  /** `first` counts from 1; of a line at most `longest` bytes are kept. */
  constructor(first: number, limit: number, longest: number) {
    this.#first = first;
    this.#last = first + limit - 1;
    this.#longest = longest;
  }

  push(chunk: Buffer): void {
    let start = 0;
    for (let end = chunk.indexOf(newline); end >= 0; end = chunk.indexOf(newline, start)) {
      this.#take(chunk.subarray(start, end));
      this.#close();
      start = end + 1;
    }
    this.#take(chunk.subarray(start));
  }

  /** To be called after the last chunk; gives the number of lines in the file. A final newline begins no line. */
  end(): number {
    if (this.#length > 0) this.#close();
    return this.#number - 1;
  }

  #take(bytes: Buffer): void {
    this.#length += bytes.length;
    if (!this.#inWindow()) return;
    const room = Math.max(0, this.#longest - this.#kept);
    const part = bytes.subarray(0, room);
    // A copy: the chunk's memory is reused by the reader.
    if (part.length > 0) this.#parts.push(Buffer.from(part));
    this.#kept += part.length;
    this.#omitted += bytes.length - part.length;
  }

  #close(): void {
    if (this.#inWindow()) this.lines.push({ text: this.#text(), omitted: this.#omitted });
    this.#number += 1;
    this.#parts = [];
    this.#kept = 0;
    this.#omitted = 0;
    this.#length = 0;
  }

  #inWindow(): boolean {
    return this.#number >= this.#first && this.#number <= this.#last;
  }

  #text(): string {
    const line = Buffer.concat(this.#parts);
    const end = this.#omitted === 0 && line[line.length - 1] === carriageReturn ? line.length - 1 : line.length;
    // A cut in the middle of a character leaves a replacement character, which is taken off.
    const text = line.subarray(0, end).toString('utf8');
    return this.#omitted === 0 ? text : text.replace(/\uFFFD+$/, '');
  }
}
