/** What a query has cost, by the prices in its configuration, and the cap that the caller set on it. */
import type { LoopConfig } from './config.ts';
import { addSpent, addUsage, noUsage, type Usage } from './message.ts';
import type { LoopState, QueryAccount, ToolOutcome } from './state.ts';

/** Dollars for a million tokens. */
export interface ModelPrice {
  readonly input: number;
  readonly output: number;
  /** Reading a cached token. */
  readonly cacheRead: number;
  /** Writing one. */
  readonly cacheWrite: number;
  /** A request whose whole input is above so many tokens costs so many times as much; null: every request costs the same. */
  readonly longInput: { readonly above: number; readonly times: number } | null;
}

const million = 1_000_000;

/** Dollars for the usage of one request. */
export function priceOf(price: ModelPrice, used: Usage): number {
  const usage = addUsage(noUsage, used);
  const tokens =
    usage.input * price.input +
    usage.output * price.output +
    usage.cacheRead * price.cacheRead +
    usage.cacheCreation * price.cacheWrite;
  const isLong =
    price.longInput !== null && usage.input + usage.cacheRead + usage.cacheCreation > price.longInput.above;
  return (tokens / million) * (isLong ? (price.longInput?.times ?? 1) : 1);
}

/** The account after one request was paid for, an answer, a summary or a line of the small model alike. */
export function spend(query: QueryAccount, used: Usage, model: string, { prices }: LoopConfig): QueryAccount {
  const cost = sum([query.cost, priceOrNull(prices[model], used)]);
  return { ...query, usage: addUsage(query.usage, used), cost };
}

/** As `spend`, for what the small model wrote in the background. */
export function paidSmall(
  query: QueryAccount,
  { usage }: { readonly usage?: Usage },
  config: LoopConfig,
): QueryAccount {
  return usage === undefined ? query : spend(query, usage, config.smallModel ?? '', config);
}

/** As `spend`, for what a tool asked of models; what it does not price itself has the prices of the configuration. */
export function spendByTool(query: QueryAccount, { spent, cost }: ToolOutcome, { prices }: LoopConfig): QueryAccount {
  if (spent === undefined) return query;
  const known = cost === undefined ? sum(spent.map(({ model, usage }) => priceOrNull(prices[model], usage))) : cost;
  return { ...query, spentByTools: addSpent(query.spentByTools, spent), cost: sum([query.cost, known]) };
}

function priceOrNull(price: ModelPrice | undefined, usage: Usage): number | null {
  return price === undefined ? null : priceOf(price, usage);
}

/** Null when a part is not known. */
function sum(parts: readonly (number | null)[]): number | null {
  return parts.reduce((all, part) => (all === null || part === null ? null : all + part), 0);
}

/** True when no further request may start: the cap is reached, or was set where something was spent without a price. */
export function isCostReached({ query }: LoopState, { maxCost }: LoopConfig): boolean {
  return maxCost !== null && (query.cost === null || query.cost >= maxCost);
}

/** The detail of a query that the cap ended. */
export function costDetail({ query }: LoopState, { maxCost }: LoopConfig): string {
  const spent = query.cost === null ? 'an amount that is not known' : `$${query.cost.toFixed(4)}`;
  return `The cost cap of $${maxCost} is reached: ${spent} was spent.`;
}
