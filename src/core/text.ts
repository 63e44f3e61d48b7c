/** Text that a model can be sent: well-formed, cut on code points. */

/** The first `length` characters (UTF-16 units) of a text, one less where that would split a surrogate pair. */
export function cutHead(text: string, length: number): string {
  if (text.length <= length) return text;
  return text.slice(0, isLowSurrogate(text, length) ? length - 1 : length);
}

/** The last `length` characters (UTF-16 units) of a text, one less where that would split a surrogate pair. */
export function cutTail(text: string, length: number): string {
  if (text.length <= length) return text;
  const start = text.length - length;
  return text.slice(isLowSurrogate(text, start) ? start + 1 : start);
}

/** True when a cut before `index` would separate the halves of one character. */
function isLowSurrogate(text: string, index: number): boolean {
  const code = text.charCodeAt(index);
  const before = text.charCodeAt(index - 1);
  return code >= 0xdc00 && code <= 0xdfff && before >= 0xd800 && before <= 0xdbff;
}

/** `1 line`, `2,000 lines`. */
export function count(number: number, noun: string): string {
  const grouped = String(number).replace(/\B(?=(\d{3})+$)/g, ',');
  return `${grouped} ${noun}${number === 1 ? '' : 's'}`;
}
