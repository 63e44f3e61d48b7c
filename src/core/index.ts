/** `escapement/core`: the loop as a pure function. Imports nothing; runs wherever JavaScript runs. */
export { bound, type Bound, type Mechanism } from './bound.ts';
export { boundWithSubAgents, type TreeBound } from './bound-tree.ts';
export {
  defaultConfig,
  defaultLimits,
  type Layer,
  type LoopConfig,
  type ModelLimits,
  type PermissionMode,
  type RecoveryLimits,
  type RetryDelays,
  type ThinkingOption,
  type WireProfile,
} from './config.ts';
export { defaultLayers, type ContextBuffers, type ContextLayers } from './context/shares.ts';
export { compactThreshold, effectiveWindow, hardLimit } from './context/thresholds.ts';
export { contextSize, estimateMessage, estimateText } from './context/tokens.ts';
export { continues } from './continue.ts';
export type { ModelPrice } from './cost.ts';
export type { Effect, EffectName, EffectOf, EffectTypes, RunningEffect } from './effect.ts';
export type { EventOf, EventType, EventTypes, LoopEvent } from './event.ts';
export { failureOf, type Failure, type FailureClass } from './failure.ts';
export { initialState, type QueryStart } from './initial-state.ts';
export { inside, type InsideName } from './inside.ts';
export type { Json, JsonObject } from './json.ts';
export type {
  AssistantBlock,
  AssistantMessage,
  CompactionBlock,
  DocumentBlock,
  ImageBlock,
  Message,
  ModelUsage,
  Origin,
  RedactedThinkingBlock,
  ServerToolResultBlock,
  ServerToolUseBlock,
  TextBlock,
  ThinkingBlock,
  ToolResultBlock,
  ToolUseBlock,
  Usage,
  UserBlock,
  UserMessage,
} from './message.ts';
export type { CompactionNotice, Emitted, Observation, Output } from './output.ts';
export type {
  Attempt,
  AttemptEnd,
  Compaction,
  OutputVerdict,
  ReportedBlock,
  Scratch,
  ToolDecision,
  ToolOutcome,
  ToolRun,
  ToolVerdict,
  Unfinished,
  Verdict,
} from './scratch.ts';
export type {
  AutoCompactTracking,
  Carried,
  CompletedOutcome,
  ContinueName,
  DecidingPhase,
  LoopState,
  ManualCompaction,
  MeasuredContext,
  PendingSpan,
  PendingSummary,
  Phase,
  QueryAccount,
  QueuedMessage,
  Repeats,
  StagedCollapse,
  Terminal,
  TerminalFacts,
  TerminalName,
  ToolSpec,
  TurnCounters,
  WaitingPhase,
} from './state.ts';
export { sessionFacts, type SessionFacts, type SessionFigure } from './session-facts.ts';
export { allows, follow, step, type Step } from './step.ts';
export { table, type Row, type RowKind } from './table.ts';
export { terminals } from './terminal.ts';
export type { ContextChange, FileRecord, PermissionRule, ToolUseContext } from './tools/context.ts';
export type { Arrow, Transition, Trigger } from './transition.ts';
export { projectHistory } from './wire/project.ts';
export { buildRequest } from './wire/request.ts';
export type {
  WireBlock,
  WireCacheControl,
  WireMessage,
  WireRequest,
  WireThinking,
  WireTool,
} from './wire/request-type.ts';
export { validateRequest, type RequestLimits, type Violation } from './wire/validate.ts';
