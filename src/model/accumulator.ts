/** Raw stream events to whole blocks. Linear in the input: fragments are collected and joined once. */
import { type Json, textIn } from '../core/json.ts';
import type { Usage } from '../core/message.ts';
import type { Observation } from '../core/output.ts';
import type { Unfinished } from '../core/state.ts';
import { asObject, type OpenBlock, openBlock, unfinishedOf, type WholeBlock, wholeBlock } from './open-block.ts';
import type { StreamEvent } from './transport.ts';

export type { WholeBlock } from './open-block.ts';

type Delta = (Observation & { type: 'delta' })['delta'];

/** What one event brought: a fragment to show, blocks that are whole from now on, both or neither. */
export interface Accumulated {
  readonly delta: { readonly index: number; readonly delta: Delta } | null;
  /** In the order in which they began. */
  readonly whole: readonly WholeBlock[];
}

/** A block in the order of the answer: open, or ended and waiting for those before it. */
interface Place {
  readonly open: OpenBlock;
  ended: { readonly whole: WholeBlock | null } | null;
}

const nothing: Accumulated = { delta: null, whole: [] };

export class Accumulator {
  /** Open blocks by message id and index: some servers interleave two messages. */
  readonly #open = new Map<string, Place>();
  /** Blocks that were not handed out, in the order in which they began: they are handed out in it. */
  #places: Place[] = [];
  #begun = 0;
  #messageId = '';
  #usage: Record<string, number> = {};
  #stopReason: string | null = null;
  #isStopped = false;
  #cleared: number | null = null;

  /** True once `message_stop` was seen. */
  get isStopped(): boolean {
    return this.#isStopped;
  }

  get stopReason(): string | null {
    return this.#stopReason;
  }

  /** Tokens that the API says it cleared from the request by itself; null when it says nothing of the kind. */
  get cleared(): number | null {
    return this.#cleared;
  }

  /** The newest figure of each kind: streams repeat them, and a sum would count twice. */
  get usage(): Usage {
    const figure = (name: string): number => Math.max(0, this.#usage[name] ?? 0);
    return {
      input: figure('input_tokens'),
      output: figure('output_tokens'),
      cacheRead: figure('cache_read_input_tokens'),
      cacheCreation: figure('cache_creation_input_tokens'),
    };
  }

  /** What was streamed of the newest block that did not end. */
  get unfinished(): Unfinished | null {
    const open = this.#places.findLast((place) => place.ended === null);
    return open === undefined ? null : unfinishedOf(open.open);
  }

  /** Takes one event; events and deltas of unknown kinds are passed over. */
  take(event: StreamEvent): Accumulated {
    switch (event.type) {
      case 'message_start':
        return this.#startMessage(asObject(event['message']));
      case 'content_block_start':
        return this.#startBlock(event);
      case 'content_block_delta':
        return this.#addDelta(event);
      case 'content_block_stop':
        return this.#endBlock(event);
      case 'message_delta':
        return this.#endMessage(event);
      case 'message_stop':
        return this.#stop();
      default:
        return nothing;
    }
  }

  /** Whole blocks that still wait for one before them; for a stream that broke. Afterwards there are none. */
  takeHeld(): readonly WholeBlock[] {
    const ended = this.#places.filter((place) => place.ended !== null);
    this.#places = this.#places.filter((place) => place.ended === null);
    return ended.flatMap((place) => place.ended?.whole ?? []);
  }

  #startMessage(message: Readonly<Record<string, unknown>>): Accumulated {
    this.#messageId = textIn(message['id']);
    this.#addUsage(message['usage']);
    return nothing;
  }

  #startBlock(event: StreamEvent): Accumulated {
    const key = this.#key(event);
    // A server that begins a block again without ending it has ended it.
    this.#close(key);
    const open = openBlock(this.#begun, asObject(event['content_block']));
    this.#begun += 1;
    const place: Place = { open, ended: null };
    this.#open.set(key, place);
    this.#places.push(place);
    return { ...startDelta(open), whole: this.#release() };
  }

  #addDelta(event: StreamEvent): Accumulated {
    const open = this.#open.get(this.#key(event))?.open;
    if (open === undefined) return nothing;
    const delta = asObject(event['delta']);
    switch (delta['type']) {
      case 'text_delta':
        return shown(open, { type: 'text', text: textIn(delta['text']) }, textIn(delta['text']));
      case 'thinking_delta':
        return shown(open, { type: 'thinking', text: textIn(delta['thinking']) }, textIn(delta['thinking']));
      case 'input_json_delta':
        return shown(open, { type: 'tool_input', json: textIn(delta['partial_json']) }, textIn(delta['partial_json']));
      case 'signature_delta':
        open.signature.push(textIn(delta['signature']));
        return nothing;
      case 'citations_delta':
        if (delta['citation'] !== undefined) open.citations.push(delta['citation'] as Json);
        return nothing;
      case 'compaction_delta':
        return addCompaction(open, delta);
      default:
        return nothing;
    }
  }

  #endBlock(event: StreamEvent): Accumulated {
    const key = this.#key(event);
    const place = this.#open.get(key);
    if (place === undefined) return nothing;
    this.#open.delete(key);
    place.ended = { whole: wholeBlock(place.open) };
    return { delta: null, whole: this.#release() };
  }

  #endMessage(event: StreamEvent): Accumulated {
    const reason = asObject(event['delta'])['stop_reason'];
    if (typeof reason === 'string') this.#stopReason = reason;
    this.#addUsage(event['usage']);
    this.#addEdits(asObject(event['context_management'])['applied_edits']);
    return nothing;
  }

  #addEdits(edits: unknown): void {
    if (!Array.isArray(edits) || edits.length === 0) return;
    const tokens = edits.map((edit) => asObject(edit)['cleared_input_tokens']);
    this.#cleared = tokens.reduce((sum: number, count) => sum + (typeof count === 'number' ? count : 0), 0);
  }

  #stop(): Accumulated {
    this.#isStopped = true;
    for (const key of this.#open.keys()) this.#close(key);
    return { delta: null, whole: this.#release() };
  }

  /**
   * Ends a block that the server did not end. Text is as good as whole. A tool use may be cut, and thinking may lack
   * its signature: neither is a block that the model finished.
   */
  #close(key: string): void {
    const place = this.#open.get(key);
    if (place === undefined) return;
    this.#open.delete(key);
    const isText = place.open.start['type'] === 'text';
    place.ended = { whole: isText ? wholeBlock(place.open) : null };
  }

  /** Takes the blocks off the front that ended: none is handed out before one that began earlier. */
  #release(): readonly WholeBlock[] {
    const stillOpen = this.#places.findIndex((place) => place.ended === null);
    const ended = this.#places.splice(0, stillOpen < 0 ? this.#places.length : stillOpen);
    return ended.flatMap((place) => place.ended?.whole ?? []);
  }

  #addUsage(usage: unknown): void {
    for (const [name, value] of Object.entries(asObject(usage))) {
      if (typeof value === 'number') this.#usage[name] = value;
    }
  }

  #key(event: StreamEvent): string {
    const message = textIn(event['message_id']) || this.#messageId;
    return `${message} ${JSON.stringify(event['index'])}`;
  }
}

/** What the start of a block shows: the name of a tool, or text that came with it. */
function startDelta(open: OpenBlock): Pick<Accumulated, 'delta'> {
  const { start, index } = open;
  switch (start['type']) {
    case 'tool_use':
      return { delta: { index, delta: { type: 'tool_use', id: textIn(start['id']), name: textIn(start['name']) } } };
    case 'text':
      return shown(open, { type: 'text', text: textIn(start['text']) }, textIn(start['text']));
    case 'thinking':
      return shown(open, { type: 'thinking', text: textIn(start['thinking']) }, textIn(start['thinking']));
    default:
      return nothing;
  }
}

function shown(open: OpenBlock, delta: Delta, part: string): Accumulated {
  open.parts.push(part);
  return part === '' ? nothing : { delta: { index: open.index, delta }, whole: [] };
}

/** A compaction comes in one delta; what is opaque in it goes back verbatim. */
function addCompaction(open: OpenBlock, delta: Readonly<Record<string, unknown>>): Accumulated {
  open.parts.push(textIn(delta['content']));
  for (const [name, value] of Object.entries(delta)) {
    if (name !== 'type' && name !== 'content' && value !== null) open.members.push([name, value as Json]);
  }
  return nothing;
}
