/** What can be said of a request that failed. */
import type { WireBlock, WireRequest } from '../core/wire/request-type.ts';
import type { RequestFacts } from './errors.ts';
import { serialiseRequest } from './serialise.ts';

/** Sizes in characters, which for JSON with base64 inside are bytes near enough. */
export function requestFacts(request: WireRequest, now: number): RequestFacts {
  const mediaBytes = request.messages
    .flatMap((message) => message.content)
    .reduce((sum, block) => sum + mediaSize(block), 0);
  return { bodyBytes: serialiseRequest(request).length, mediaBytes, now };
}

function mediaSize(block: WireBlock): number {
  if (block.type === 'image' || block.type === 'document') return JSON.stringify(block).length;
  const parts = block.type === 'tool_result' ? block['content'] : null;
  return Array.isArray(parts) ? (parts as readonly WireBlock[]).reduce((sum, part) => sum + mediaSize(part), 0) : 0;
}
