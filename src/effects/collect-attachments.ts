/** Performs `collectAttachments`: gathers what belongs behind the tool results of a turn. */
import type { EffectOf } from '../core/effect.ts';
import type { UserBlock } from '../core/message.ts';
import type { ToolSpec } from '../core/state.ts';
import type { ContextChange } from '../core/tools/context.ts';
import { fitImages } from '../tools/fit-images.ts';
import { jsonCopy } from '../tools/hash.ts';
import type { ToolRegistry } from '../tools/registry.ts';
import type { ScaleImage } from '../tools/scale-image.ts';
import { settle } from '../tools/settle.ts';
import { describeThrown } from '../tools/thrown.ts';
import type { EffectIo, EffectRunner } from './io.ts';

/** Gives the content of any number of messages. Contract: must heed the signal; may reject: that is a notice with its name. */
export type AttachmentProvider = (
  effect: EffectOf<'collectAttachments'>,
  signal: AbortSignal,
) => Promise<readonly (readonly UserBlock[])[]>;

/** What a part of the loop's own host attaches. */
interface Attached {
  readonly messages: readonly (readonly UserBlock[])[];
  readonly contextChanges?: readonly ContextChange[];
  readonly notices?: readonly string[];
}

/** A provider of the host itself, which may also change what tools share. Contract: as `AttachmentProvider`. */
export type AttachmentSource = (effect: EffectOf<'collectAttachments'>, signal: AbortSignal) => Promise<Attached>;

/** Where attachments and tools come from. */
export interface CollectAttachmentsDeps {
  /** Asked beside the providers; what they give stands first. Default: none. */
  readonly sources?: readonly AttachmentSource[];
  readonly providers: readonly AttachmentProvider[];
  /** The tools of now; null when they never change. */
  readonly registry: (() => ToolRegistry) | null;
  readonly scaleImage: ScaleImage;
  /** Waits until the registry is that of now; resolves with notices. Contract: must heed the signal and not reject. */
  readonly refreshed?: (signal: AbortSignal) => Promise<readonly string[]>;
  /** Longest time for one provider in milliseconds. Default 30,000: the next request waits for it. */
  readonly timeoutMs?: number;
}

const defaultTimeoutMs = 30_000;

type Collected = Required<Attached>;

/**
 * Answers with `attachments.collected`: the providers run side by side, what they give stands in their order, and one
 * that fails, hangs or gives nonsense is left out with a notice. `tools` is set when the registry no longer matches.
 */
export function collectAttachments(deps: CollectAttachmentsDeps): EffectRunner<'collectAttachments'> {
  return async (effect, io) => {
    const waits = deps.refreshed?.(io.signal) ?? [];
    const asked = [...(deps.sources ?? []), ...deps.providers.map(sourceOf)];
    const parts = await Promise.all(asked.map((source) => askSource(source, effect, io, deps)));
    const contextChanges = parts.flatMap((part) => part.contextChanges);
    const waited = await waits;
    const refreshed = refreshTools(deps, effect.tools);
    if (io.signal.aborted) return;
    io.post({
      type: 'attachments.collected',
      effectId: effect.id,
      attachments: parts.flatMap((part) => part.messages),
      tools: refreshed.tools,
      notices: [...parts.flatMap((part) => part.notices), ...waited, ...refreshed.notices],
      ...(contextChanges.length === 0 ? {} : { contextChanges }),
    });
  };
}

function sourceOf(provider: AttachmentProvider): AttachmentSource {
  const source: AttachmentSource = async (effect, signal) => ({
    messages: checkBlocks(await provider(effect, signal)),
  });
  // Its name stands in the notice when it fails.
  return Object.defineProperty(source, 'name', { value: provider.name });
}

async function askSource(
  source: AttachmentSource,
  effect: EffectOf<'collectAttachments'>,
  io: EffectIo,
  deps: CollectAttachmentsDeps,
): Promise<Collected> {
  const { clock, signal } = io;
  const timeoutMs = deps.timeoutMs ?? defaultTimeoutMs;
  const ask = async (inner: AbortSignal): Promise<Collected> => {
    const { messages, contextChanges = [], notices = [] } = await source(effect, inner);
    return { messages: await fitAll(messages, deps.scaleImage), contextChanges, notices };
  };
  const settled = await settle(ask, { clock, signal, timeoutMs });
  switch (settled.type) {
    case 'value':
      return settled.value;
    case 'thrown':
      return left(source, settled.message);
    case 'timeout':
      return left(source, `nothing came within ${timeoutMs / 1_000} seconds.`);
    case 'aborted':
      return { messages: [], contextChanges: [], notices: [] };
  }
}

async function fitAll(messages: readonly (readonly UserBlock[])[], scale: ScaleImage): Promise<Collected['messages']> {
  return Promise.all(messages.map((blocks) => fitImages(blocks, scale)));
}

function left({ name }: AttachmentSource, why: string): Collected {
  const notice = `Attachments (${name || 'unnamed'}) could not be collected: ${why}`;
  return { messages: [], contextChanges: [], notices: [notice] };
}

/** Providers are foreign code: only plain data that is a list of lists of blocks may enter an event. Empty ones go. */
function checkBlocks(value: unknown): readonly (readonly UserBlock[])[] {
  const copy: unknown = jsonCopy(value ?? []);
  if (!Array.isArray(copy) || !copy.every(isMessage)) throw new TypeError('what came is no list of messages.');
  return copy.filter((blocks) => blocks.length > 0);
}

function isMessage(value: unknown): value is readonly UserBlock[] {
  return Array.isArray(value) && value.every(isBlock);
}

/** A tool result belongs to a tool use and to nothing else. */
function isBlock(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || !('type' in value)) return false;
  if (value.type === 'text') return 'text' in value && typeof value.text === 'string';
  return (value.type === 'image' || value.type === 'document') && 'source' in value;
}

/** The new tool list when it differs from the one that the model knows. */
function refreshTools(
  { registry }: CollectAttachmentsDeps,
  known: readonly ToolSpec[],
): { readonly tools: readonly ToolSpec[] | null; readonly notices: readonly string[] } {
  if (registry === null) return { tools: null, notices: [] };
  try {
    const tools = registry().specs();
    const same = tools === known || JSON.stringify(tools) === JSON.stringify(known);
    return { tools: same ? null : tools, notices: [] };
  } catch (error) {
    return { tools: null, notices: [`The tool list could not be refreshed: ${describeThrown(error)}`] };
  }
}
