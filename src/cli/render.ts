/** Shows a query while it runs, in the form that was asked for. */
import type { Message } from '../core/message.ts';
import type { Emitted } from '../core/output.ts';
import type { Terminal } from '../core/state.ts';
import type { RunFlags } from './arguments.ts';
import { finalText } from '../inspect/final-text.ts';
import { endingOf, newDetail } from './format.ts';
import type { CliIo } from './io.ts';
import { TextRenderer } from './render-text.ts';
import { visibleProse } from './visible.ts';

/** How a query ended. */
export interface Ending {
  readonly terminal: Terminal;
  /** Dollars; null where a price is not known. */
  readonly cost: number | null;
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
export type Form = Pick<RunFlags, 'outputFormat' | 'print' | 'verbose'>;

/** True for the form that people read while it runs. The others are for programs, which are asked nothing afterwards. */
export function isForPeople({ outputFormat, print }: Form): boolean {
  return outputFormat === 'text' && !print;
}

export function rendererFor(form: Form, io: CliIo): Renderer {
  if (form.outputFormat === 'json') return jsonRenderer(io);
  if (form.outputFormat === 'stream-json') return streamJsonRenderer(io);
  return form.print ? printRenderer(io) : new TextRenderer(io, form.verbose);
}

const silent: Omit<Renderer, 'end'> = { show: () => {}, requestFailed: () => {}, pause: () => {}, resume: () => {} };

function jsonRenderer(io: CliIo): Renderer {
  const end = ({ terminal, cost, messages }: Ending): void => {
    io.out(`${JSON.stringify({ ...terminal, cost, text: finalText(messages), messages })}\n`);
  };
  return { ...silent, end };
}

function streamJsonRenderer(io: CliIo): Renderer {
  return {
    ...silent,
    show: (item) => io.out(`${JSON.stringify(item)}\n`),
    end: ({ terminal, cost }) => io.out(`${JSON.stringify({ type: 'terminal', ...terminal, cost })}\n`),
  };
}

function printRenderer(io: CliIo): Renderer {
  return {
    ...silent,
    show: (item) => {
      if (item.type === 'error') io.err(`${visibleProse(item.failure.message)}\n`);
    },
    end: ({ terminal, messages }) => {
      const text = finalText(messages);
      // A program gets the text as it is, a terminal must not obey it.
      if (text !== '') io.out(`${io.isTerminal ? visibleProse(text) : text}\n`);
      const detail = newDetail(terminal);
      if (terminal.outcome !== 'done') io.err(`${endingOf(terminal)}${detail === null ? '' : `: ${detail}`}\n`);
    },
  };
}
