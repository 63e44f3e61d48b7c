/**
 * Text from models, tools and servers, made safe to show. A terminal obeys control characters: with them a command could
 * wipe out the question that asks about it, or look like another one.
 */

const unsafe = /[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu;

/** The same text with every character that is an order to the terminal shown as a picture of itself. */
export function visible(text: string): string {
  return text.replace(unsafe, (character) =>
    character === '\n' || character === '\t' ? character : pictureOf(character),
  );
}

/** As `visible`, but line ends of any kind are line ends: for a text that is read, not judged. */
export function visibleProse(text: string): string {
  return visible(text.replaceAll('\r', ''));
}

function pictureOf(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  if (code < 0x20) return String.fromCodePoint(0x24_00 + code);
  if (code === 0x7f) return '␡';
  return `<U+${code.toString(16).toUpperCase().padStart(4, '0')}>`;
}
