/** Work on many files: a few at a time, results in order, an abort heeded in between. */

/** Files that are open or looked at side by side. */
const sliceSize = 32;

/** Works through the items in order, `sliceSize` at a time; stops early when `isEnough` says so. Rejects with the signal's reason. */
export async function inSlices<Item, Result>(
  items: readonly Item[],
  signal: AbortSignal,
  work: (slice: readonly Item[]) => Promise<readonly Result[]>,
  isEnough: (results: readonly Result[]) => boolean = () => false,
): Promise<readonly Result[]> {
  const results: Result[] = [];
  for (let start = 0; start < items.length && !isEnough(results); start += sliceSize) {
    signal.throwIfAborted();
    results.push(...(await work(items.slice(start, start + sliceSize))));
  }
  return results;
}
