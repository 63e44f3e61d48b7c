/** The form for people: streamed text, a line for each tool, a spinner where people wait. */
import type { Emitted, Observation } from '../core/output.ts';
import { summaryLine, toolLine } from './format.ts';
import type { CliIo } from './io.ts';
import type { Ending, Renderer } from './render.ts';
import { visible, visibleProse } from './visible.ts';
import { Waiting } from './waiting.ts';

type Delta = Observation & { readonly type: 'delta' };

/** Where the newest piece of an answer stood. */
interface Place {
  readonly messageId: string;
  readonly index: number;
  readonly kind: Delta['delta']['type'];
}

export class TextRenderer implements Renderer {
  readonly #io: CliIo;
  readonly #verbose: boolean;
  readonly #waiting: Waiting;
  /** What each tool was asked, by tool-use id. */
  readonly #asked = new Map<string, string>();
  readonly #held: Emitted[] = [];
  #pauses = 0;
  #atLineStart = true;
  #place: Place | null = null;
  #busyWith = 'thinking';

  constructor(io: CliIo, verbose: boolean) {
    this.#io = io;
    this.#verbose = verbose;
    this.#waiting = new Waiting(io);
    this.#waiting.start(this.#busyWith);
  }

  readonly show = (item: Emitted): void => {
    if (this.#pauses > 0) {
      this.#held.push(item);
      return;
    }
    this.#print(item);
    const runs = item.type === 'progress' && item.status !== 'ended';
    this.#busyWith = runs ? `${item.name} ${this.#asked.get(item.toolUseId) ?? ''}` : 'thinking';
    this.#wait();
  };

  readonly requestFailed = (sentence: string): void => {
    if (this.#verbose) this.#io.err(this.#io.colors.dim(`[request failed: ${visible(sentence)}]\n`));
    this.#busyWith = `thinking (a request failed: ${sentence})`;
    this.#wait();
  };

  readonly end = ({ terminal, budget }: Ending): void => {
    this.#pauses = 0;
    this.#flush();
    this.#waiting.stop();
    this.#line(`\n${summaryLine(terminal, budget, this.#io.colors)}`);
  };

  readonly pause = (): void => {
    this.#pauses += 1;
    this.#waiting.stop();
    this.#breakLine();
  };

  readonly resume = (): void => {
    // The query may have ended in between, and with it every pause.
    if (this.#pauses === 0) return;
    this.#pauses -= 1;
    if (this.#pauses > 0) return;
    this.#flush();
    this.#wait();
  };

  #flush(): void {
    for (const item of this.#held.splice(0)) this.#print(item);
  }

  #wait(): void {
    // A spinner has a line of its own: half a line of text would be wiped out by it.
    if (this.#atLineStart && this.#pauses === 0) this.#waiting.start(this.#busyWith);
  }

  #write(text: string): void {
    this.#waiting.stop();
    this.#io.out(text);
    if (text !== '') this.#atLineStart = text.endsWith('\n');
  }

  #breakLine(): void {
    if (!this.#atLineStart) this.#write('\n');
  }

  #line(text: string): void {
    this.#breakLine();
    this.#write(`${text}\n`);
  }

  #print(item: Emitted): void {
    const { colors } = this.#io;
    switch (item.type) {
      case 'delta':
        this.#printDelta(item);
        return;
      case 'progress':
        if (item.status === 'started') this.#asked.set(item.toolUseId, item.text);
        if (item.status === 'ended') this.#line(toolLine(item, this.#asked.get(item.toolUseId) ?? '', colors));
        return;
      case 'user':
        // An answer that was cut goes on in mid-sentence; after anything else a new one begins.
        if (item.message.origin === 'continue_request') this.#place = null;
        else this.#breakLine();
        return;
      case 'error':
        this.#line(colors.red(visibleProse(item.failure.message)));
        return;
      default: {
        const text = dimText(item);
        if (text !== null) this.#line(colors.dim(text));
      }
    }
  }

  #printDelta({ messageId, index, delta }: Delta): void {
    const isShown = delta.type === 'text' || (delta.type === 'thinking' && this.#verbose);
    if (!isShown) return;
    const place: Place = { messageId, index, kind: delta.type };
    if (this.#place !== null && !goesOn(this.#place, place)) this.#breakLine();
    this.#place = place;
    const text = visibleProse(delta.text);
    this.#write(delta.type === 'text' ? text : this.#io.colors.dim(text));
  }
}

/** Text blocks that follow one another are one text in pieces. */
function goesOn(before: Place, now: Place): boolean {
  return now.messageId === before.messageId && now.kind === before.kind && now.index - before.index <= 1;
}

/** What is said beside the conversation; null for what is not said at all. */
function dimText(item: Emitted): string | null {
  switch (item.type) {
    case 'tombstone':
      return `(the text above was dropped: ${visible(item.why)})`;
    case 'notice':
      // The boundary right before it says the same.
      return typeof item.compaction?.tokensAfter === 'number' ? null : visibleProse(item.text);
    case 'boundary':
      return `(${item.kind}: ${item.tokensBefore} to ${item.tokensAfter} tokens)`;
    case 'tool_use_summary':
      return `• ${visible(item.text)}`;
    default:
      return null;
  }
}
