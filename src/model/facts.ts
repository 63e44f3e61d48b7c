/** What can be said of a request that failed. */
import { Buffer } from 'node:buffer';
import type { WireBlock, WireRequest } from '../core/wire/request-type.ts';
import type { RequestFacts } from './errors.ts';
import { serialiseRequest } from './serialise.ts';

/** Sizes of a request in bytes; counted only once something failed. */
export function requestFacts(request: WireRequest, now: number): RequestFacts {
  const mediaBytes = request.messages
    .flatMap((message) => message.content)
    .reduce((sum, block) => sum + mediaSize(block), 0);
  return { bodyBytes: Buffer.byteLength(serialiseRequest(request)), mediaBytes, now };
}

function mediaSize(block: WireBlock): number {
  if (block.type === 'image' || block.type === 'document') return Buffer.byteLength(JSON.stringify(block));
  const parts = block.type === 'tool_result' ? block['content'] : null;
  return Array.isArray(parts) ? (parts as readonly WireBlock[]).reduce((sum, part) => sum + mediaSize(part), 0) : 0;
}
