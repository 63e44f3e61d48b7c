/** When the layers of the context begin and how far each goes: what of a window is kept free, and shares of it. */

/** Buffers under the context window, in tokens; each is capped at a share of the window when the window is small. */
export interface ContextBuffers {
  /** Kept free for the answer. Default 20,000, at most 30 % of the window. */
  readonly outputReserve: number;
  /** Auto-compact begins this far under the effective window. Default 13,000, at most 20 %. */
  readonly compactBuffer: number;
  /** The hard limit stands this far under the effective window. Default 3,000, at most 5 %. */
  readonly blockBuffer: number;
}

/** When each layer begins and how far it goes; shares are of the size at which auto-compact begins. */
export interface ContextLayers {
  /** Snip begins at this share. Default 0.8. */
  readonly snipAbove: number;
  /** Snip drops turns until this share is left. Default 0.6. */
  readonly snipTo: number;
  /** Microcompact begins at this share. Default 0.6. */
  readonly clearAbove: number;
  /** Newest calls of the named tools whose results stay; at least 1. Default 5. */
  readonly clearKeep: number;
  /** Tools whose old results may be cleared. Default: the built-in ones, which can be asked again. */
  readonly clearTools: readonly string[];
  /** A clearing must free this share of the context, and a span must fill this share, to be worth it. Default 0.05. */
  readonly leastFreed: number;
  /** Collapse has spans summarised from this share on. Default 0.7. */
  readonly stageAbove: number;
  /** Collapse puts summaries in the place of their spans at this share. Default 0.9. */
  readonly commitAbove: number;
  /** Largest span, as a share. Default 0.2, the distance between staging and committing. */
  readonly spanSize: number;
}

export const defaultBuffers: ContextBuffers = { outputReserve: 20_000, compactBuffer: 13_000, blockBuffer: 3_000 };

export const defaultLayers: ContextLayers = {
  snipAbove: 0.8,
  snipTo: 0.6,
  clearAbove: 0.6,
  clearKeep: 5,
  clearTools: ['Bash', 'Edit', 'Glob', 'Grep', 'Read', 'Write'],
  leastFreed: 0.05,
  stageAbove: 0.7,
  commitAbove: 0.9,
  spanSize: 0.2,
};
