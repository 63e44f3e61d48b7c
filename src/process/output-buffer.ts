/** Gathers the output of a process within a fixed amount of memory: its beginning and its end. */
import { count, cutTail } from '../core/text.ts';

/** Characters kept of the beginning and of the end; together about what a person could search, far from what hurts. */
const longestHead = 8_000_000;
const longestTail = 2_000_000;

/** Keeps the first and the last characters of what is pushed, 8,000,000 and 2,000,000 by default. */
export class OutputBuffer {
  #head: string[] = [];
  #headLength = 0;
  #tail: string[] = [];
  #tailLength = 0;
  #omitted = 0;
  readonly #mostHead: number;
  readonly #mostTail: number;

  constructor(mostHead = longestHead, mostTail = longestTail) {
    this.#mostHead = mostHead;
    this.#mostTail = mostTail;
  }

  push(text: string): void {
    const room = this.#mostHead - this.#headLength;
    const head = text.slice(0, room);
    if (head !== '') this.#head.push(head);
    this.#headLength += head.length;
    if (text.length > room) this.#pushTail(text.slice(room));
  }

  #pushTail(text: string): void {
    const kept = cutTail(text, this.#mostTail);
    this.#omitted += text.length - kept.length;
    this.#tail.push(kept);
    this.#tailLength += kept.length;
    // Whole pieces go from the front; what stays is at most one piece over the limit.
    while (this.#tail.length > 1 && this.#tailLength - this.#tail[0]!.length >= this.#mostTail) {
      const dropped = this.#tail.shift()!.length;
      this.#tailLength -= dropped;
      this.#omitted += dropped;
    }
  }

  text(): string {
    const gap = this.#omitted > 0 ? [`\n[... ${count(this.#omitted, 'character')} of output left out ...]\n`] : [];
    return [...this.#head, ...gap, ...this.#tail].join('').toWellFormed();
  }
}
