/** The events of a stream as the one message that a request without `stream` gets. */
type Members = Readonly<Record<string, unknown>>;

interface OpenBlock {
  readonly block: Record<string, unknown>;
  readonly json: string[];
}

/** The message as JSON, once the stream is over; nothing at all when it was cut before its end. */
export async function* wholeMessage(frames: AsyncIterable<string>): AsyncGenerator<string> {
  const fold = new Fold();
  for await (const chunk of frames) {
    for (const event of eventsIn(chunk)) fold.take(event);
  }
  if (fold.isWhole) yield JSON.stringify(fold.message());
}

/** The data of the events in a chunk, which holds whole events only. */
function eventsIn(chunk: string): readonly Members[] {
  const lines = chunk.split('\n').filter((line) => line.startsWith('data: '));
  return lines.map((line) => JSON.parse(line.slice('data: '.length)) as Members);
}

class Fold {
  #message: Record<string, unknown> = {};
  #usage: Record<string, unknown> = {};
  /** Blocks in the order in which they began; a second message of the stream counts its own indexes. */
  readonly #blocks: OpenBlock[] = [];
  readonly #byIndex = new Map<unknown, OpenBlock>();
  isWhole = false;

  take(event: Members): void {
    switch (event['type']) {
      case 'message_start':
        this.#start(event['message'] as Members);
        return;
      case 'content_block_start':
        this.#open(event);
        return;
      case 'content_block_delta':
        this.#add(event);
        return;
      case 'message_delta':
        Object.assign(this.#message, event['delta']);
        Object.assign(this.#usage, event['usage']);
        return;
      case 'message_stop':
        this.isWhole = true;
        return;
      default:
        return;
    }
  }

  message(): Members {
    return { ...this.#message, content: this.#blocks.map(closed), usage: this.#usage };
  }

  #start(message: Members): void {
    if (this.#blocks.length === 0) this.#message = { ...message };
    this.#usage = { ...this.#usage, ...(message['usage'] as Members) };
    this.#byIndex.clear();
  }

  #open(event: Members): void {
    const opened: OpenBlock = { block: { ...(event['content_block'] as Members) }, json: [] };
    this.#blocks.push(opened);
    this.#byIndex.set(event['index'], opened);
  }

  #add(event: Members): void {
    const open = this.#byIndex.get(event['index']);
    const delta = event['delta'] as Members;
    if (open === undefined) return;
    for (const name of ['text', 'thinking', 'signature']) {
      if (typeof delta[name] === 'string') open.block[name] = `${textOf(open.block[name])}${delta[name]}`;
    }
    if (typeof delta['partial_json'] === 'string') open.json.push(delta['partial_json']);
  }
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function closed({ block, json }: OpenBlock): Members {
  return json.length === 0 ? block : { ...block, input: inputOf(json.join('')) };
}

/** A whole message can hold no broken JSON: what cannot be read is an empty input. */
function inputOf(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return {};
  }
}
