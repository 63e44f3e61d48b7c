/** What a tool call comes to: every call yields one `ToolOutcome`, whatever happened. */
import { note } from '../core/answer.ts';
import type { TextBlock, UserBlock } from '../core/message.ts';
import type { ToolOutcome } from '../core/state.ts';
import { emptyResult } from '../core/wire/blocks.ts';
import type { ToolContent } from './tool.ts';

/** The stage that ended a call (`ToolOutcome.stage`), in the order of the pipeline. */
export type PipelineStage =
  /** No tool goes by that name. */
  | 'lookup'
  /** The call was cancelled; nobody waits for its result. */
  | 'abort'
  /** The input does not fit the schema. */
  | 'schema'
  /** The tool finds the input senseless, or cannot fill it in. */
  | 'validation'
  /** A PreToolUse hook denied, stopped, or changed the input to something that does not fit. */
  | 'preToolUse'
  /** A rule, the tool, the mode or the user denied. */
  | 'permission'
  /** The tool ran: its result, or its failure. */
  | 'run'
  /** The tool ran longer than it may. */
  | 'timeout'
  /** A PostToolUse hook crashed or stopped the loop; the tool ran. */
  | 'postToolUse'
  /** The pipeline itself failed: a bug of the engine. */
  | 'pipeline';

/** An outcome that is an error with one text. `more` changes what is rare. */
export function errorOutcome(stage: PipelineStage, text: string, more: Partial<ToolOutcome> = {}): ToolOutcome {
  return { ...outcomeOf(stage, [{ type: 'text', text }], true), ...more };
}

/**
 * An outcome in the form that the API accepts: never empty, well-formed text, and for an error nothing but text; the
 * images of an error stand behind the results of the turn instead.
 */
export function outcomeOf(stage: PipelineStage, content: readonly ToolContent[], isError: boolean): ToolOutcome {
  const media = content.filter((block) => block.type !== 'text');
  return {
    content: fillEmpty(isError ? content.filter((block) => block.type === 'text') : content),
    isError,
    whole: null,
    stage,
    cancelsSiblings: false,
    contextChanges: [],
    attachments: isError ? media : [],
    notices: [],
    stop: null,
    interrupt: false,
  };
}

/** Blank text goes, the rest is made well-formed; where nothing is left a placeholder stands. */
function fillEmpty(content: readonly ToolContent[]): readonly ToolContent[] {
  const kept = content.filter((block) => block.type !== 'text' || block.text.trim() !== '').map(wellFormed);
  return kept.length > 0 ? kept : [{ type: 'text', text: emptyResult }];
}

function wellFormed(block: ToolContent): ToolContent {
  if (block.type !== 'text' || block.text.isWellFormed()) return block;
  return { type: 'text', text: block.text.toWellFormed() };
}

/** A text for the model that is marked as the loop's own. */
export function noteBlock(text: string): TextBlock {
  return { type: 'text', text: note(text) };
}

/** The outcome with more blocks behind the results of the turn. */
export function attach(outcome: ToolOutcome, blocks: readonly UserBlock[]): ToolOutcome {
  return blocks.length === 0 ? outcome : { ...outcome, attachments: [...outcome.attachments, ...blocks] };
}

/** The text of an outcome, for people. */
export function outcomeText(outcome: ToolOutcome): string {
  return outcome.content.map((block) => (block.type === 'text' ? block.text : `[${block.type}]`)).join('\n');
}
