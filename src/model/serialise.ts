/** The body of a request as JSON, every part of it stringified once for as long as it is the same object. */
import type { WireRequest } from '../core/wire/request-type.ts';

const cache = new WeakMap<object, string>();

function once(value: object): string {
  const known = cache.get(value);
  if (known !== undefined) return known;
  const text = JSON.stringify(value);
  cache.set(value, text);
  return text;
}

/** The same bytes as `JSON.stringify({ ...request, stream: true })`; messages and the tool list come from the cache. */
export function serialiseRequest(request: WireRequest): string {
  const members = Object.entries(request)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${JSON.stringify(name)}:${part(name, value)}`);
  return `{${[...members, '"stream":true'].join(',')}}`;
}

function part(name: string, value: unknown): string {
  if (name === 'messages') return `[${(value as WireRequest['messages']).map(once).join(',')}]`;
  return name === 'tools' ? once(value as object) : JSON.stringify(value);
}
