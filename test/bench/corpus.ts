/** The texts that the token estimate is measured on: files that never change, and what is made from a fixed seed. */
import { readdirSync, readFileSync } from 'node:fs';

export type Kind = 'code' | 'json' | 'prose' | 'listing' | 'cjk' | 'other scripts' | 'symbols' | 'encoded';

/** In the order of the report. */
export const kinds: readonly Kind[] = [
  'code',
  'json',
  'prose',
  'listing',
  'cjk',
  'other scripts',
  'symbols',
  'encoded',
];

export interface Sample {
  readonly name: string;
  readonly kind: Kind;
  readonly text: string;
}

const folder = new URL('corpus/', import.meta.url);

/** A file says its kind with the first word of its name; scripts are told apart here. */
const kindOf: Readonly<Record<string, Kind>> = {
  code: 'code',
  json: 'json',
  prose: 'prose',
  listing: 'listing',
  cjk: 'cjk',
  script: 'other scripts',
  symbols: 'symbols',
};

/** Numbers from 0 to 2^32, the same on every machine (mulberry32). */
function chance(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return (mixed ^ (mixed >>> 14)) >>> 0;
  };
}

function bytes(seed: number, length: number): Buffer {
  const next = chance(seed);
  return Buffer.from(Array.from({ length }, () => next() & 0xff));
}

const words = ['core', 'config', 'index', 'render', 'session', 'result_store', 'HookPort', 'package-lock', 'utils'];
const endings = ['.ts', '.test.ts', '.json', '.md', '.tar.gz', '.snap', ''];

function listing(): string {
  const next = chance(11);
  const pick = (list: readonly string[]): string => list[next() % list.length] ?? '';
  const row = (): string => {
    const size = String(next() % 900_000).padStart(7);
    const day = String(1 + (next() % 28)).padStart(2);
    const time = `${String(next() % 24).padStart(2, '0')}:${String(next() % 60).padStart(2, '0')}`;
    return `-rw-r--r--  1 dev staff ${size} Nov ${day} ${time} ${pick(words)}-${pick(words)}${pick(endings)}`;
  };
  return ['./src:', 'total 1284', ...Array.from({ length: 60 }, row)].join('\n');
}

function found(): string {
  const next = chance(12);
  const pick = (list: readonly string[]): string => list[next() % list.length] ?? '';
  const line = (): string =>
    `src/${pick(words)}/${pick(words)}.ts:${1 + (next() % 400)}:  const ${pick(words)} = await read('${pick(words)}');`;
  return Array.from({ length: 50 }, line).join('\n');
}

function table(): string {
  const next = chance(13);
  const number = (): string => (next() / 4096 / 7).toFixed(next() % 4);
  const row = (_: unknown, index: number): string =>
    [index + 1, `2026-11-${String(1 + (index % 28)).padStart(2, '0')}`, number(), number(), number(), -index].join(',');
  return ['id,date,open,close,volume,change', ...Array.from({ length: 60 }, row)].join('\n');
}

function records(): string {
  const next = chance(14);
  const record = (_: unknown, id: number): unknown => ({
    id,
    uuid: bytes(id + 100, 16).toString('hex'),
    name: words[next() % words.length],
    score: next() / 2 ** 32,
    tags: ['a', 'long tag', null, true],
    at: `2026-11-12T08:${String(next() % 60).padStart(2, '0')}:03.217Z`,
  });
  return JSON.stringify(Array.from({ length: 30 }, record));
}

function hexDump(): string {
  const all = bytes(15, 640);
  const line = (_: unknown, index: number): string => {
    const row = [...all.subarray(index * 16, index * 16 + 16)];
    const shown = row.map((byte) => (byte > 32 && byte < 127 ? String.fromCharCode(byte) : '.')).join('');
    const hex = row.map((byte) => byte.toString(16).padStart(2, '0')).join(' ');
    return `${(index * 16).toString(16).padStart(8, '0')}  ${hex}  |${shown}|`;
  };
  return Array.from({ length: 40 }, line).join('\n');
}

const made: readonly Sample[] = [
  { name: 'ls -l', kind: 'listing', text: listing() },
  { name: 'grep -n', kind: 'listing', text: found() },
  { name: 'CSV of numbers', kind: 'listing', text: table() },
  { name: 'records with ids', kind: 'json', text: records() },
  { name: 'base64', kind: 'encoded', text: bytes(16, 3_000).toString('base64') },
  {
    name: 'base64 in lines',
    kind: 'encoded',
    text: (
      bytes(17, 3_000)
        .toString('base64')
        .match(/.{1,76}/g) ?? []
    ).join('\n'),
  },
  { name: 'hex', kind: 'encoded', text: bytes(18, 2_000).toString('hex') },
  { name: 'hex dump', kind: 'encoded', text: hexDump() },
];

/** Every sample: the files in the order of their names, then what is made. */
export function corpus(): readonly Sample[] {
  const files = readdirSync(folder).filter((name) => name.endsWith('.txt'));
  const read = files.toSorted().map((name): Sample => {
    const kind = kindOf[name.replace(/-.*$/, '')];
    if (kind === undefined) throw new Error(`${name} does not say its kind with its first word.`);
    return { name: name.replace(/\.txt$/, ''), kind, text: readFileSync(new URL(name, folder), 'utf8') };
  });
  return [...read, ...made];
}
