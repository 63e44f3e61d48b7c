/** Ids and chance, both derived from the seed in the state: a replay draws the same ones. */
import type { QueryAccount } from './state.ts';

/** The n-th id of a seed. A seed in uuid form gives ids in uuid form: the last group holds the number. */
export function idAt(seed: string, number: number): string {
  const digits = number.toString(16);
  return `${seed.slice(0, 24)}${zeros[Math.min(digits.length, 12)]}${digits}`;
}

/** Zeros in front of so many digits, to twelve in all. */
const zeros = Array.from({ length: 13 }, (_, digits) => '0'.repeat(12 - digits));

/** The account after one more id was drawn, and that id. */
export function drawId(query: QueryAccount): readonly [QueryAccount, string] {
  const drawn = query.drawn + 1;
  return [{ ...query, drawn }, idAt(query.seed, drawn)];
}

/** A short digest of a text, to tell whether two are equal: 64 bits of FNV-1a in two halves. No defence against forgery. */
export function digest(text: string): string {
  let low = 0x811c9dc5;
  let high = 0x9dc5811c;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    low = Math.imul(low ^ code, 0x01000193);
    high = Math.imul(high ^ code ^ index, 0x01000193);
  }
  return (low >>> 0).toString(16).padStart(8, '0') + (high >>> 0).toString(16).padStart(8, '0');
}

/** A number from 0 (inclusive) to 1 (exclusive) that depends on the seed and `salt` alone (FNV-1a, then a mixing step). */
export function chance(seed: string, salt: number): number {
  let hash = fnv(`${seed}:${salt}`);
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
  hash = Math.imul(hash ^ (hash >>> 12), 0x297a2d39);
  return ((hash ^ (hash >>> 15)) >>> 0) / 0x1_0000_0000;
}

/** FNV-1a over the code units. */
function fnv(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  }
  return hash;
}

/** A short hash of a text, to see that it changed. Not for secrets. */
export function hashOf(text: string): string {
  return `${(fnv(text) >>> 0).toString(16)}-${text.length.toString(16)}`;
}
