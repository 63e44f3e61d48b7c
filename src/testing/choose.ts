/** Choices: every generator of this folder draws from one function, so that a run can be seeded, printed and shrunk. */
import { chance } from '../core/ids.ts';

/** Draws a number from 0 to `count - 1`. */
export type Choose = (count: number) => number;

/** Choices from a list; 0 when it is used up, so that shrinking it leads to the mildest of what can be drawn. */
export function choicesFrom(numbers: readonly number[]): Choose {
  let index = 0;
  return (count) => {
    const number = numbers[index] ?? 0;
    index += 1;
    return count < 1 ? 0 : Math.abs(Math.trunc(number)) % count;
  };
}

/** Choices that follow from a seed, for ever the same ones. */
export function choicesOf(seed: string): Choose {
  let drawn = 0;
  return (count) => {
    drawn += 1;
    return Math.floor(chance(seed, drawn) * Math.max(1, count));
  };
}

/** One of the items. */
export function pick<Item>(choose: Choose, items: readonly [Item, ...Item[]]): Item {
  return items[choose(items.length)] ?? items[0];
}

/** Repeats an item, so that it is drawn more often. */
export function often<Item>(times: number, item: Item): readonly Item[] {
  return Array.from({ length: times }, () => item);
}
