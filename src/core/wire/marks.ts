/**
 * Cache breakpoints: marks behind which the API keeps what it has read. It takes four. Those of the caller count first;
 * ours stand where the same bytes come again: behind the newest user message, behind system prompt and tools, behind the
 * user message before (the newest of the last request).
 */
import { isMarked, withoutMark } from './members.ts';
import type { WireBlock, WireCacheControl, WireMessage, WireRequest, WireTool } from './request-type.ts';

/** Breakpoints that the API takes (its documentation of prompt caching). */
export const mostBreakpoints = 4;
/** Blocks before a breakpoint in which the API looks for what it kept (the same). */
const lookback = 20;

type Marked = Pick<WireRequest, 'system' | 'tools' | 'messages'>;

const ephemeral: WireCacheControl = { type: 'ephemeral' };

/** The parts of a request with the caller's breakpoints, the newest four of them, and ours as far as any are left. */
export function withBreakpoints(parts: Marked): Marked {
  const marked = new Marks(parts);
  const users = marked.newestUsers();
  marked.markEnd(users[0]);
  marked.markPrefix();
  marked.markEnd(users[1]);
  marked.markBetween();
  return marked.finish();
}

/** The messages without any breakpoint, for servers that do not know them. */
export function withoutBreakpoints(messages: readonly WireMessage[]): readonly WireMessage[] {
  return messages.some((message) => marksIn(message) > 0)
    ? messages.map((message) => withoutMarks(message, Number.MAX_SAFE_INTEGER))
    : messages;
}

class Marks {
  #system: Marked['system'];
  #tools: Marked['tools'];
  readonly #messages: WireMessage[];
  #left: number;

  constructor({ system, tools, messages }: Marked) {
    this.#system = system;
    this.#tools = tools;
    this.#messages = [...messages];
    this.#left = mostBreakpoints - messages.reduce((count, message) => count + marksIn(message), 0);
    for (let index = 0; this.#left < 0; index += 1) this.#dropOldest(index);
  }

  #dropOldest(index: number): void {
    const message = this.#messages[index]!;
    const over = Math.min(marksIn(message), -this.#left);
    if (over === 0) return;
    this.#messages[index] = withoutMarks(message, over);
    this.#left += over;
  }

  /** Indexes of the last two user messages, the newest first. */
  newestUsers(): readonly number[] {
    const found: number[] = [];
    for (let index = this.#messages.length - 1; index >= 0 && found.length < 2; index -= 1) {
      if (this.#messages[index]!.role === 'user') found.push(index);
    }
    return found;
  }

  markEnd(index: number | undefined): void {
    if (index !== undefined) this.#mark(index, this.#messages[index]!.content.length - 1);
  }

  #mark(index: number, place: number): void {
    const message = this.#messages[index]!;
    const block = message.content[place];
    if (this.#left === 0 || block === undefined || marksOf(block) > 0) return;
    this.#messages[index] = markedAt(message, place);
    this.#left -= 1;
  }

  /** Tools come before the system prompt: one mark behind the prompt holds for both. */
  markPrefix(): void {
    if (this.#left === 0) return;
    if (this.#system !== undefined) this.#system = markLast(this.#system);
    else if (this.#tools !== undefined && this.#tools.length > 0) this.#tools = markLast(this.#tools);
    else return;
    this.#left -= 1;
  }

  /** One more in the newest stretch of more than twenty blocks without a mark: what lies deeper in it would not be found. */
  markBetween(): void {
    const place = this.#left === 0 ? null : placeBetween(this.#messages);
    if (place !== null) this.#mark(place.index, place.place);
  }

  /** What is to be kept for an hour may not stand behind what is kept for less: all marks before it ask for an hour too. */
  finish(): Marked {
    const last = this.#messages.findLastIndex((message) => marksIn(message) > 0 && asksForAnHour(message));
    const messages =
      last < 0 ? this.#messages : this.#messages.map((message, index) => (index > last ? message : forAnHour(message)));
    return {
      ...(this.#system === undefined ? {} : { system: last < 0 ? this.#system : this.#system.map(hourly) }),
      ...(this.#tools === undefined ? {} : { tools: last < 0 ? this.#tools : this.#tools.map(hourly) }),
      messages,
    };
  }
}

interface Place {
  readonly index: number;
  readonly place: number;
}

/**
 * Where a mark helps in the newest stretch of more than twenty blocks before a mark that has none: at the end of a user
 * message, which an earlier request has marked; in one long message at its twentieth block from the end.
 */
function placeBetween(messages: readonly WireMessage[]): Place | null {
  /** Blocks since the later mark; negative before the first was seen. */
  let distance = Number.NEGATIVE_INFINITY;
  let farthest: Place | null = null;
  for (let index = messages.length - 1; index >= 0; index -= 1) {
    const { role, content } = messages[index]!;
    for (let place = content.length - 1; place >= 0; place -= 1) {
      const block = content[place]!;
      if (marksOf(block) > 0) {
        if (distance > lookback) return farthest;
        distance = 0;
        farthest = null;
        continue;
      }
      distance += 1;
      if (distance > lookback && role === 'user' && place === content.length - 1) return { index, place };
      if (distance > 0 && distance <= lookback && !isThinking(block)) farthest = { index, place };
    }
  }
  return distance > lookback ? farthest : null;
}

function isThinking({ type }: WireBlock): boolean {
  return type === 'thinking' || type === 'redacted_thinking';
}

function partsOf(block: WireBlock): readonly WireBlock[] {
  const { content } = block;
  return block.type === 'tool_result' && Array.isArray(content) ? (content as readonly WireBlock[]) : [];
}

/** Marks of a block, those of its parts too. */
function marksOf(block: WireBlock): number {
  return (isMarked(block) ? 1 : 0) + partsOf(block).filter(isMarked).length;
}

const counts = new WeakMap<WireMessage, number>();

function marksIn(message: WireMessage): number {
  const known = counts.get(message);
  if (known !== undefined) return known;
  const count = message.content.reduce((sum, block) => sum + marksOf(block), 0);
  counts.set(message, count);
  return count;
}

/** Puts `change` in the place of every marked block, parts of results too. */
function mapMarked(message: WireMessage, change: (block: WireBlock) => WireBlock): WireMessage {
  const content = message.content.map((block) => {
    const parts = partsOf(block);
    const inner = parts.some(isMarked)
      ? { ...block, content: parts.map((part) => (isMarked(part) ? change(part) : part)) }
      : block;
    return isMarked(block) ? change(inner) : inner;
  });
  return { role: message.role, content };
}

const bareCache = new WeakMap<WireMessage, WireMessage>();

/** The message without its first `count` marks. */
function withoutMarks(message: WireMessage, count: number): WireMessage {
  const all = marksIn(message);
  if (all === 0) return message;
  const known = count >= all ? bareCache.get(message) : undefined;
  if (known !== undefined) return known;
  let left = count;
  const bare = mapMarked(message, (block) => {
    left -= 1;
    return left < 0 ? block : withoutMark(block);
  });
  if (count >= all) bareCache.set(message, bare);
  return bare;
}

const markedCache = new WeakMap<WireMessage, Map<number, WireMessage>>();

/** One object per message and place, since it is sent with its mark more than once. */
function markedAt(message: WireMessage, place: number): WireMessage {
  const places = markedCache.get(message) ?? new Map<number, WireMessage>();
  markedCache.set(message, places);
  const known = places.get(place);
  if (known !== undefined) return known;
  const content = message.content.map((block, index) =>
    index === place ? { ...block, cache_control: ephemeral } : block,
  );
  const marked: WireMessage = { role: message.role, content };
  places.set(place, marked);
  return marked;
}

const lastCache = new WeakMap<object, object>();

/** One list for a list: the tools are serialised once. */
function markLast<Markable extends WireBlock | WireTool>(list: readonly Markable[]): readonly Markable[] {
  const known = lastCache.get(list);
  if (known !== undefined) return known as readonly Markable[];
  const last = list.length - 1;
  const marked = list.map((item, index) => (index === last ? { ...item, cache_control: ephemeral } : item));
  lastCache.set(list, marked);
  return marked;
}

function hourly<Markable extends WireBlock | WireTool>(item: Markable): Markable {
  const { cache_control: mark } = item;
  return mark === undefined || mark === null ? item : { ...item, cache_control: { ...mark, ttl: '1h' } };
}

function forAnHour(message: WireMessage): WireMessage {
  return marksIn(message) === 0 ? message : mapMarked(message, hourly);
}

function asksForAnHour(message: WireMessage): boolean {
  return message.content.some((block) =>
    [block, ...partsOf(block)].some(({ cache_control: mark }) => mark?.ttl === '1h'),
  );
}
