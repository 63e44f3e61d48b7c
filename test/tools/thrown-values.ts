/** Values that people throw, and values that resist being looked at. */
export const thrownValues: readonly (readonly [string, unknown, RegExp])[] = [
  ['an error', new Error('boom'), /^boom$/],
  ['an error without a message', new TypeError(), /^TypeError$/],
  ['a string', 'boom', /^boom$/],
  ['an empty string', '', /without a message/],
  ['null', null, /null/],
  ['undefined', undefined, /undefined/],
  ['a number', 42, /42/],
  ['a symbol', Symbol('s'), /Symbol\(s\)/],
  ['a plain object', { code: 7 }, /"code":7/],
  [
    'a cycle',
    (() => {
      const cycle: Record<string, unknown> = {};
      cycle['self'] = cycle;
      return cycle;
    })(),
    /cannot be described/,
  ],
  [
    'an error whose message throws',
    Object.defineProperty(new Error(), 'message', {
      get() {
        throw new Error('inner');
      },
    }),
    /cannot be described/,
  ],
  ['an error whose message is no text', Object.assign(new Error(), { message: 7 }), /^Error$/],
  [
    'an object whose toJSON throws',
    {
      toJSON() {
        throw new Error('inner');
      },
    },
    /cannot be described/,
  ],
  [
    'a proxy that refuses everything',
    new Proxy(
      {},
      {
        getPrototypeOf() {
          throw new Error('no');
        },
        get() {
          throw new Error('no');
        },
      },
    ),
    /cannot be described/,
  ],
  ['an error with half a character', new Error('a\uD83D'), /^a\uFFFD$/],
];
