/** Whether a value is a request at all: the rules behind this one rely on it. */
import { isObject } from '../json.ts';
import type { WireRequest } from './request-type.ts';
import { isServerResultType } from './sound.ts';
import type { Report } from './validate.ts';

type Members = Readonly<Record<string, unknown>>;

/** Says of a value what it should be, or nothing when it is. */
type Check = (value: unknown) => string | null;

const text: Check = (value) => (typeof value === 'string' ? null : 'a text');
const object: Check = (value) => (isObject(value) ? null : 'an object');
const number: Check = (value) => (typeof value === 'number' ? null : 'a number');
const flag: Check = (value) => (typeof value === 'boolean' ? null : 'true or false');
const role: Check = (value) => (roles.has(value) ? null : '"user", "assistant" or "system"');

const roles: ReadonlySet<unknown> = new Set(['user', 'assistant', 'system']);

/** What each kind of block must have. Kinds that are not listed pass: the API adds new ones. */
const blockMembers: Readonly<Record<string, Readonly<Record<string, Check>>>> = {
  text: { text },
  thinking: { thinking: text, signature: text },
  redacted_thinking: { data: text },
  tool_use: { id: text, name: text },
  server_tool_use: { id: text, name: text },
  tool_result: { tool_use_id: text },
  image: { source: object },
  document: { source: object },
};

/** Reports where `request` has not the shape of a request; true when it has. */
export function checkShape(request: unknown, report: Report): request is WireRequest {
  const shape = new Shape(report);
  shape.checkRequest(request);
  return shape.holds;
}

/** True for a value that has the shape of a request, whatever else may be wrong with it. */
export function hasShape(request: unknown): request is WireRequest {
  return checkShape(request, () => {});
}

class Shape {
  readonly #report: Report;
  holds = true;

  constructor(report: Report) {
    this.#report = report;
  }

  checkRequest(request: unknown): void {
    if (!isObject(request)) return this.#misses('request', 'an object');
    this.#need(request, '', { model: text, max_tokens: number });
    this.#each(request['messages'], 'messages', (message, path) => this.#checkMessage(message, path));
    if (request['system'] !== undefined) this.#checkContent(request['system'], 'system');
    if (request['tools'] !== undefined) {
      this.#each(request['tools'], 'tools', (tool, path) => this.#members(tool, path, { name: text }));
    }
    if (request['thinking'] !== undefined) this.#checkThinking(request['thinking']);
  }

  #checkMessage(message: unknown, path: string): void {
    if (this.#members(message, path, { role })) this.#checkContent(message['content'], `${path}.content`);
  }

  /** A text, or a list of blocks. */
  #checkContent(content: unknown, path: string): void {
    if (typeof content !== 'string') this.#each(content, path, (block, place) => this.#checkBlock(block, place));
  }

  #checkBlock(block: unknown, path: string): void {
    if (!this.#members(block, path, { type: text })) return;
    const type = String(block['type']);
    this.#need(block, `${path}.`, blockMembers[type] ?? (isServerResultType(type) ? { tool_use_id: text } : {}));
    if (type === 'tool_result' && block['content'] !== undefined) {
      this.#checkContent(block['content'], `${path}.content`);
    }
    if (type === 'tool_result' && block['is_error'] !== undefined) this.#need(block, `${path}.`, { is_error: flag });
  }

  #checkThinking(thinking: unknown): void {
    if (!this.#members(thinking, 'thinking', { type: text })) return;
    if (thinking['type'] === 'enabled') this.#need(thinking, 'thinking.', { budget_tokens: number });
  }

  #members(value: unknown, path: string, checks: Readonly<Record<string, Check>>): value is Members {
    if (isObject(value)) return this.#need(value, `${path}.`, checks);
    this.#misses(path, 'an object');
    return false;
  }

  #need(value: Members, before: string, checks: Readonly<Record<string, Check>>): boolean {
    const missing = Object.entries(checks).flatMap(([name, check]) => {
      const wanted = check(value[name]);
      return wanted === null ? [] : [{ path: `${before}${name}`, wanted }];
    });
    for (const { path, wanted } of missing) this.#misses(path, wanted);
    return missing.length === 0;
  }

  #each(values: unknown, path: string, check: (value: unknown, path: string) => void): void {
    if (!Array.isArray(values)) return this.#misses(path, 'a list');
    for (const [index, value] of (values as readonly unknown[]).entries()) check(value, `${path}.${index}`);
  }

  #misses(path: string, wanted: string): void {
    this.holds = false;
    this.#report('shape', path, `It should be ${wanted}.`);
  }
}
