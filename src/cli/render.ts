/** Shows a query while it runs, in the form that was asked for. */
import type { Message } from '../core/message.ts';
import type { Emitted } from '../core/output.ts';
import type { Terminal } from '../core/state.ts';
import type { RunFlags } from './arguments.ts';
import { finalText } from '../inspect/final-text.ts';
import { endingOf, isGood, newDetail, type TokenBudget } from './format.ts';
import type { CliIo } from './io.ts';
import { TextRenderer } from './render-text.ts';
import { visibleProse } from './visible.ts';

/** How a query ended. */
export interface Ending {
  readonly terminal: Terminal;
  /** Output tokens that the query should use, and how many it did; null without a token budget. */
  readonly budget: TokenBudget | null;
  readonly messages: readonly Message[];
}

/** What is shown of a query. Contract: must not throw. */
export interface Renderer {
  readonly show: (item: Emitted) => void;
  /** A request failed; the loop may still ask again, so this is no result. */
  readonly requestFailed: (sentence: string) => void;
  /** Called once, after the last item. */
  readonly end: (ending: Ending) => void;
  /** Something else writes now: ends the line and holds back what comes, until as many calls of `resume`. */
  readonly pause: () => void;
  readonly resume: () => void;
}

/** What the flags say about the form. */
export type Form = Pick<RunFlags, 'outputFormat' | 'print' | 'verbose' | 'jsonSchema'>;

/** True for the form that people read while it runs. The others are for programs, which are asked nothing afterwards. */
export function isForPeople({ outputFormat, print }: Form): boolean {
  return outputFormat === 'text' && !print;
}

export function rendererFor(form: Form, io: CliIo): Renderer {
  if (form.outputFormat === 'json') return jsonRenderer(io);
  if (form.outputFormat === 'stream-json') return streamJsonRenderer(io);
  return form.print ? printRenderer(io, form.jsonSchema !== undefined) : new TextRenderer(io, form.verbose);
}

const silent: Omit<Renderer, 'end'> = { show: () => {}, requestFailed: () => {}, pause: () => {}, resume: () => {} };

function jsonRenderer(io: CliIo): Renderer {
  const end = ({ terminal, budget, messages }: Ending): void => {
    io.out(`${JSON.stringify({ ...terminal, budget, text: finalText(messages), messages })}\n`);
  };
  return { ...silent, end };
}

function streamJsonRenderer(io: CliIo): Renderer {
  return {
    ...silent,
    show: (item) => io.out(`${JSON.stringify(item)}\n`),
    end: ({ terminal, budget }) => io.out(`${JSON.stringify({ type: 'terminal', ...terminal, budget })}\n`),
  };
}

/** With a schema the value alone is printed, or nothing: what does not fit would be read as if it did. */
function printRenderer(io: CliIo, isStructured: boolean): Renderer {
  return {
    ...silent,
    show: (item) => {
      if (item.type === 'error') io.err(`${visibleProse(item.failure.message)}\n`);
    },
    end: ({ terminal, messages }) => {
      const text = isStructured ? valueText(terminal) : finalText(messages);
      // A program gets the text as it is, a terminal must not obey it.
      if (text !== '') io.out(`${io.isTerminal ? visibleProse(text) : text}\n`);
      const detail = newDetail(terminal);
      if (!isGood(terminal)) io.err(`${endingOf(terminal)}${detail === null ? '' : `: ${detail}`}\n`);
    },
  };
}

function valueText({ output, outcome }: Terminal): string {
  return isGood({ outcome }) || output !== null ? JSON.stringify(output) : '';
}
