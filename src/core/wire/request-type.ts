/** The body of a request to `/v1/messages`, as far as the loop uses it. */
import type { JsonObject } from '../json.ts';

export interface WireCacheControl {
  readonly type: 'ephemeral';
  /** How long the API keeps what stands before; left out: five minutes. */
  readonly ttl?: '5m' | '1h';
}

/** A content block as sent: the stored block, perhaps with a cache breakpoint. */
export type WireBlock = { readonly type: string; readonly cache_control?: WireCacheControl } & {
  readonly [key: string]: unknown;
};

export interface WireMessage {
  readonly role: 'user' | 'assistant' | 'system';
  readonly content: readonly WireBlock[];
}

export interface WireTool {
  readonly name: string;
  readonly description: string;
  readonly input_schema: JsonObject;
  readonly cache_control?: WireCacheControl;
}

export type WireThinking =
  | { readonly type: 'adaptive' }
  | { readonly type: 'enabled'; readonly budget_tokens: number }
  | { readonly type: 'disabled' };

export interface WireRequest {
  readonly model: string;
  readonly max_tokens: number;
  /** Left out when the system prompt is empty. */
  readonly system?: readonly WireBlock[];
  /** Left out when there are no tools. */
  readonly tools?: readonly WireTool[];
  readonly messages: readonly WireMessage[];
  /** Left out when thinking is off. */
  readonly thinking?: WireThinking;
  readonly output_config?: JsonObject;
  /** What the API itself clears from the prompt. */
  readonly context_management?: JsonObject;
  /** The API summarises `messages` instead of answering. Never together with `context_management`. */
  readonly compaction?: JsonObject;
}
