/** `escapement`: the loop of a coding agent, ready to run. */
export { type Clock, systemClock } from './clock.ts';
export type { ContextOptions } from './context-sources.ts';
export type { Emitted, Observation, Output } from './core/output.ts';
export { sessionFacts, type SessionFacts } from './core/session-facts.ts';
export type { LoopState, QueuedMessage, Terminal } from './core/state.ts';
export type { Message, Usage, UserBlock } from './core/message.ts';
export type { PermissionRule } from './core/tools/context.ts';
export { ingestMessages, type LooseMessage } from './core/wire/ingest.ts';
export { type ActorHost, loopActors, performEffect } from './effects/actors.ts';
export type { AttachmentProvider } from './effects/collect-attachments.ts';
export type { EffectIo, EffectRunner, EffectRunners } from './effects/io.ts';
export type { Hooks, PostToolUseHook, PreToolUseHook, StopHook } from './hooks/hook.ts';
export type { MemoryOptions } from './memory/memory.ts';
export { hasCredentials } from './model/client.ts';
export { costOf } from './model/prices.ts';
export type { CallIo, CallModel, CallPurpose, StreamEvent } from './model/transport.ts';
export { type LoopOptions, loopOptionsSchema } from './options.ts';
export { type LoopParts, loopParts, type QueryDeps, type QueryOptions } from './prepare.ts';
export { query, type Query } from './query.ts';
export { type Journal, type MemoryJournal, memoryJournal, type RecordedQuery, replay } from './session/journal.ts';
export { resume } from './session/resume.ts';
export type { SkillOptions } from './skills/skills.ts';
export { builtInTools } from './tools/builtin/index.ts';
export type { CanUseTool, PermissionAnswer, PermissionRequest } from './tools/can-use-tool.ts';
export { createFileContents, type FileContents } from './tools/file-contents.ts';
export { createFileStore, createMemoryStore, type ResultStore } from './tools/result-store.ts';
export type { ImageGoal, ScaledImage, ScaleImage } from './tools/scale-image.ts';
export {
  type Tool,
  tool,
  type ToolContent,
  type ToolDefinition,
  type ToolOutput,
  type ToolRunContext,
} from './tools/tool.ts';
