/** Histories grow at their end: what was computed for one is kept and carried on when the next begins with the same messages. */
import type { Message } from './message.ts';

/** True when `messages` begins with every message of `earlier`, as the same objects. */
function startsWith(messages: readonly Message[], earlier: readonly Message[]): boolean {
  if (earlier === messages) return true;
  if (earlier.length > messages.length) return false;
  for (let index = 0; index < earlier.length; index += 1) if (earlier[index] !== messages[index]) return false;
  return true;
}

/** What was computed for the newest history that began with a certain message; the check makes a hit exact. */
export class PrefixMemo<Value extends { readonly messages: readonly Message[] }> {
  readonly #byFirst = new WeakMap<Message, Value>();

  /** The value of a history that `messages` begins with, or null. */
  find(messages: readonly Message[]): Value | null {
    const first = messages[0];
    const known = first === undefined ? undefined : this.#byFirst.get(first);
    return known !== undefined && startsWith(messages, known.messages) ? known : null;
  }

  keep(value: Value): void {
    const first = value.messages[0];
    if (first !== undefined) this.#byFirst.set(first, value);
  }
}
