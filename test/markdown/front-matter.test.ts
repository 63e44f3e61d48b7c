import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { frontMatterOf } from '../../src/markdown/front-matter.ts';

describe('front matter', () => {
  it('is taken apart, with a byte order mark and with Windows line ends too', () => {
    const text = '\uFEFF---\r\nname: a\r\nlist: [1, 2]\r\n---\r\n\r\nBody.\r\n';
    expect(frontMatterOf(text)).toEqual({ members: { name: 'a', list: [1, 2] }, body: 'Body.' });
  });

  it('may be missing, empty, or all there is', () => {
    expect(frontMatterOf('Only a body.\n---\nname: a\n---\n')).toEqual({
      members: null,
      body: 'Only a body.\n---\nname: a\n---',
    });
    expect(frontMatterOf('---\n---\nBody.')).toEqual({ members: {}, body: 'Body.' });
    expect(frontMatterOf('---\nname: a\n---')).toEqual({ members: { name: 'a' }, body: '' });
  });

  it('is read member by member where it is no YAML', () => {
    const text = '---\nname: a\ndescription: Use it: always\n  and everywhere\ntools: Read, Grep\n---\nBody.';
    expect(frontMatterOf(text).members).toEqual({
      name: 'a',
      description: 'Use it: always\n  and everywhere',
      tools: 'Read, Grep',
    });
  });

  it('law: no text makes it throw', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(typeof frontMatterOf(`---\n${text}\n---\n`).body).toBe('string');
        expect(typeof frontMatterOf(text).body).toBe('string');
      }),
    );
  });
});
