/** Texts that say that a request does not fit the context window, of the API and of servers that speak its protocol. */
import type { Failure } from '../core/failure.ts';

/** What such a text says; figures in tokens, null where it gives none. */
export interface Overflow {
  /** `max_tokens_too_large`: the input alone would fit. */
  readonly kind: 'overflow' | 'max_tokens_too_large';
  readonly tokens: Failure['tokens'];
}

/** A number, perhaps with thousands separators. */
const n = String.raw`[\d,]*\d`;

function row(text: string): RegExp {
  return new RegExp(text.replaceAll('<<', '(?<').replaceAll('>>', `>${n})`).replaceAll('#', n), 'is');
}

/**
 * The input and `max_tokens` together are too large, or `max_tokens` alone is. `<<name>>` is a figure to adopt, `#` one
 * to pass over. Sources: the issues named in the reference of the wire for the API; the servers' own code for vLLM (the
 * wordings of 2023 and of 2025) and OpenRouter.
 */
const sumTexts: readonly RegExp[] = [
  row('input length and `?max_tokens`? exceed context limit: <<input>> \\+ # > <<window>>'),
  row('max_tokens: # > <<maxOutput>>, which is the maximum'),
  row('maximum context length is <<window>> tokens and your request has <<input>> input tokens'),
  row('maximum context length is <<window>> tokens.*\\(<<input>> (?:in the messages|in the prompt|of text input)\\b'),
];

/** The input alone is too large. The first row that fits is the one that gives most figures. */
const overflowTexts: readonly RegExp[] = [
  // The API.
  row('prompt is too long: <<input>> tokens > <<window>> maximum'),
  /prompt is too long/i,
  // llama.cpp.
  row('request \\(<<input>> tokens\\) exceeds the available context size \\(<<window>> tokens\\)'),
  row('exceeds? the available context size(?: \\(<<window>> tokens\\))?'),
  // LM Studio.
  row('first <<input>> tokens when context the overflows.*context length of only <<window>> tokens'),
  /greater than the context length/i,
  // OpenRouter and vLLM, where the text does not tell input and output apart.
  row('maximum context length is <<window>>'),
  // Gemini, xAI, Mistral and Kimi behind a proxy.
  row('input token count \\(?<<input>>\\)? exceeds the maximum number of tokens allowed \\(?<<window>>'),
  row('maximum prompt length is <<window>> but the request contains <<input>> tokens'),
  row('prompt contains <<input>> tokens.*too large for model with <<window>> maximum context length'),
  row('exceeded model token limit: <<window>>'),
  // Bedrock, Groq, MiniMax, LiteLLM, and what several servers say.
  /input is too long for requested model/i,
  /reduce the length of the messages/i,
  /exceeds? the (model's )?(maximum )?context (window|length|limit)/i,
  /context[_ ]?(window|length)[_ ]?exceed(s|ed)/i,
  /too many tokens in the (prompt|input)/i,
];

/** Reads an error text; null when it says nothing of the kind. Whether its status may mean that is for the caller. */
export function readOverflow(text: string): Overflow | null {
  const sum = firstMatch(sumTexts, text);
  if (sum !== null) return { kind: isInputAlone(sum) ? 'overflow' : 'max_tokens_too_large', tokens: sum };
  const input = firstMatch(overflowTexts, text);
  return input === null ? null : { kind: 'overflow', tokens: input };
}

/** No smaller `max_tokens` helps an input that fills the window by itself. */
function isInputAlone({ input, window }: Failure['tokens']): boolean {
  return input !== null && window !== null && input >= window;
}

function firstMatch(rows: readonly RegExp[], text: string): Failure['tokens'] | null {
  for (const pattern of rows) {
    const found = pattern.exec(text);
    if (found !== null) return figures(found.groups ?? {});
  }
  return null;
}

function figures(groups: Readonly<Record<string, string | undefined>>): Failure['tokens'] {
  const figure = (name: string): number | null => {
    const value = Number(groups[name]?.replaceAll(',', '') ?? Number.NaN);
    return Number.isSafeInteger(value) ? value : null;
  };
  return { input: figure('input'), window: figure('window'), maxOutput: figure('maxOutput') };
}
