/** What hooks say, in the form in which models and users read it. */

/** Longest text of a hook that the model is shown, in characters (the limit that coding agents document). */
const longestContext = 10_000;

/** The contexts with one more, which says whose it is; a blank one adds nothing. */
export function addContext(
  contexts: readonly string[],
  kind: string,
  name: string,
  context: string | undefined,
): readonly string[] {
  if (context === undefined || context.trim() === '') return contexts;
  return [...contexts, `${kind} hook ${name}: ${context.slice(0, longestContext).toWellFormed()}`];
}

/** Sentences for the user that say whose they are. */
export function noticesOf(kind: string, name: string, notices: readonly string[] | undefined): readonly string[] {
  return (notices ?? [])
    .filter((notice) => notice.trim() !== '')
    .map((notice) => `${kind} hook ${name}: ${notice.slice(0, longestContext).toWellFormed()}`);
}
