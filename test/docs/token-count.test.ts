/** The page on the token count, held against what the script computes. */
import { expect, it } from 'vitest';
import { errorTable } from '../bench/tokens.ts';
import { textOf } from './markdown.ts';

it('docs/token-count.md gives the errors that the script computes', () => {
  expect(textOf('docs/token-count.md')).toContain(`\n\n${errorTable()}\n\n`);
});
