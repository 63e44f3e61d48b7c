/** `+500k` at either end of a prompt: how many output tokens the user wants to be used. */
import type { QueryOptions } from './query-options.ts';

/** A prompt without its budget. */
export interface BudgetedPrompt {
  readonly prompt: string;
  /** Output tokens; null when the prompt names none. */
  readonly tokens: number | null;
}

/** With `k` or `m` any number counts; a bare one from here on: "what is 2 +2" is no budget. */
const leastBareNumber = 1_000;
/** A longer number is a telephone number, not a budget. */
const mostTokens = 100_000_000;

const amount = /^(?<number>\d+(?:\.\d+)?)(?<unit>[km]?)$/i;
const atStart = /^\s*\+(?<amount>\S+)(?<rest>\s[\s\S]*)$/;
const atEnd = /^(?<rest>[\s\S]*\s)\+(?<amount>\S+)\s*$/;

/** Tokens of `500k`, `1.5m`, `50000`; null for anything else, and for numbers that are none to have meant. */
export function parseTokens(text: string): number | null {
  const { number = '', unit = '' } = amount.exec(text)?.groups ?? {};
  if (number === '') return null;
  const tokens = Number(number) * { '': 1, k: 1_000, m: 1_000_000 }[unit.toLowerCase() as '' | 'k' | 'm'];
  return Number.isInteger(tokens) && tokens > 0 && tokens <= mostTokens ? tokens : null;
}

/** Takes the budget off a prompt, at its start or else at its end. A prompt that is nothing but a budget stays as it is. */
export function takeBudget(prompt: string): BudgetedPrompt {
  for (const place of [atStart, atEnd]) {
    const { amount: said = '', rest = '' } = place.exec(prompt)?.groups ?? {};
    const tokens = parseTokens(said);
    const isMeant = tokens !== null && (/[km]$/i.test(said) || tokens >= leastBareNumber);
    if (isMeant && rest.trim() !== '') return { prompt: rest.trim(), tokens };
  }
  return { prompt, tokens: null };
}

/** The options with the budget of the prompt in its place, where the caller asks for that; the prompt's word goes first. */
export function withPromptBudget(options: QueryOptions): QueryOptions {
  if (options.promptBudget !== true || typeof options.prompt !== 'string') return options;
  const { prompt, tokens } = takeBudget(options.prompt);
  return tokens === null ? options : { ...options, prompt, tokenBudget: tokens };
}
