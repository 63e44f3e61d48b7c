/** Shows a query while it runs. */
import ora, { type Ora } from 'ora';
import type { Message } from '../core/message.ts';
import type { Emitted } from '../core/output.ts';
import type { Terminal } from '../core/state.ts';
import { costOf } from '../model/prices.ts';
import type { RunFlags } from './arguments.ts';
import { summaryLine, toolLine } from './format.ts';
import type { CliIo } from './io.ts';

/** What is shown of a query. Contract: must not throw. */
export interface Renderer {
  readonly show: (item: Emitted) => void;
  /** Called once, after the last item. */
  readonly end: (terminal: Terminal, model: string, messages: readonly Message[]) => void;
  /** Takes the spinner away and ends the line, since something else writes now. */
  readonly pause: () => void;
  /** The other one is done: a wait may show itself again. */
  readonly resume: () => void;
}

export function rendererFor(flags: Pick<RunFlags, 'outputFormat' | 'print' | 'verbose'>, io: CliIo): Renderer {
  if (flags.outputFormat === 'json') return jsonRenderer(io);
  if (flags.outputFormat === 'stream-json') return streamJsonRenderer(io);
  return flags.print ? printRenderer(io) : textRenderer(io, flags.verbose);
}

/** The text of the newest answer that has one. */
function finalText(messages: readonly Message[]): string {
  const answer = messages.findLast((message) => message.role === 'assistant' && !message.refused);
  return (answer?.content ?? []).flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n');
}

function jsonRenderer(io: CliIo): Renderer {
  return {
    show: () => {},
    pause: () => {},
    resume: () => {},
    end: (terminal, model, messages) => {
      io.out(
        `${JSON.stringify({ ...terminal, cost: costOf(model, terminal.usage), text: finalText(messages), messages })}\n`,
      );
    },
  };
}

function streamJsonRenderer(io: CliIo): Renderer {
  return {
    show: (item) => io.out(`${JSON.stringify(item)}\n`),
    pause: () => {},
    resume: () => {},
    end: (terminal, model) => {
      io.out(`${JSON.stringify({ type: 'terminal', ...terminal, cost: costOf(model, terminal.usage) })}\n`);
    },
  };
}

function printRenderer(io: CliIo): Renderer {
  return {
    show: (item) => {
      if (item.type === 'error') io.err(`${item.failure.message}\n`);
    },
    pause: () => {},
    resume: () => {},
    end: (terminal, _model, messages) => {
      const text = finalText(messages);
      if (text !== '') io.out(`${text}\n`);
      if (terminal.outcome !== 'done')
        io.err(`${terminal.reason}${terminal.detail === null ? '' : `: ${terminal.detail}`}\n`);
    },
  };
}

/** A wait shorter than this needs no spinner, in milliseconds. */
const patienceMs = 400;

/** Streamed text, a line for each tool, a spinner where people wait. */
function textRenderer(io: CliIo, verbose: boolean): Renderer {
  const { colors } = io;
  const waiting = new Waiting(io);
  const asked = new Map<string, string>();
  let atLineStart = true;
  const write = (text: string): void => {
    waiting.stop();
    io.out(text);
    if (text !== '') atLineStart = text.endsWith('\n');
  };
  const line = (text: string): void => write(`${atLineStart ? '' : '\n'}${text}\n`);
  const show = (item: Emitted): void => {
    switch (item.type) {
      case 'delta':
        if (item.delta.type === 'text') write(item.delta.text);
        if (item.delta.type === 'thinking' && verbose) write(colors.dim(item.delta.text));
        return;
      case 'progress':
        if (item.status === 'started') asked.set(item.toolUseId, item.text);
        if (item.status === 'ended') line(toolLine(item, asked.get(item.toolUseId) ?? '', colors));
        return;
      case 'tombstone':
        line(colors.dim(`(the text above was dropped: ${item.why})`));
        return;
      case 'notice':
        line(colors.dim(item.text));
        return;
      case 'boundary':
        line(colors.dim(`(${item.kind}: ${item.tokensBefore} to ${item.tokensAfter} tokens)`));
        return;
      case 'tool_use_summary':
        line(colors.dim(`• ${item.text}`));
        return;
      case 'error':
        line(colors.red(item.failure.message));
        return;
      default:
        return;
    }
  };
  let busyWith = 'thinking';
  waiting.start(busyWith);
  return {
    show: (item) => {
      show(item);
      const runs = item.type === 'progress' && item.status !== 'ended';
      busyWith = runs ? `${item.name} ${asked.get(item.toolUseId) ?? ''}` : 'thinking';
      // A spinner has a line of its own: half a line of text would be wiped out by it.
      if (atLineStart) waiting.start(busyWith);
    },
    pause: () => {
      waiting.stop();
      if (!atLineStart) write('\n');
    },
    resume: () => waiting.start(busyWith),
    end: (terminal, model) => {
      waiting.stop();
      line(`\n${summaryLine(terminal, model, colors)}`);
    },
  };
}

/** A spinner that comes when a wait grows long, where a terminal is there. */
class Waiting {
  readonly #isTerminal: boolean;
  #timer: NodeJS.Timeout | null = null;
  #spinner: Ora | null = null;

  constructor(io: CliIo) {
    this.#isTerminal = io.isTerminal;
  }

  start(text: string): void {
    if (!this.#isTerminal) return;
    this.stop();
    this.#timer = setTimeout(() => {
      // The keyboard belongs to whoever reads it: Ctrl+C must reach the query.
      this.#spinner = ora({ text: text.slice(0, 60), stream: process.stderr, discardStdin: false }).start();
    }, patienceMs);
    this.#timer.unref();
  }

  stop(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    this.#spinner?.stop();
    this.#spinner = null;
  }
}
