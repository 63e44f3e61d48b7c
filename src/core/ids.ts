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

/** A number from 0 (inclusive) to 1 (exclusive) that depends on the seed and `salt` alone (FNV-1a, then a mixing step). */
export function chance(seed: string, salt: number): number {
  let hash = fnv(`${seed}:${salt}`, basis, 0);
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
  hash = Math.imul(hash ^ (hash >>> 12), 0x297a2d39);
  return ((hash ^ (hash >>> 15)) >>> 0) / 0x1_0000_0000;
}

/** A short digest of a text, to tell whether two are equal: 64 bits of FNV-1a in two halves. No defence against forgery. */
export function digest(text: string): string {
  return hex(fnv(text, basis, 0)) + hex(fnv(text, otherBasis, 1));
}

const basis = 0x811c9dc5;
const otherBasis = 0x9dc5811c;

/** FNV-1a over the code units; with `twist` 1 over each mixed with its index, so that the halves of a digest differ. */
function fnv(text: string, start: number, twist: 0 | 1): number {
  let hash = start;
  for (let index = 0; index < text.length; index += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(index) ^ (twist * index), 0x01000193);
  }
  return hash;
}

function hex(hash: number): string {
  return (hash >>> 0).toString(16).padStart(8, '0');
}
