/** `escapement`: the loop of a coding agent, ready to run. */
export type { AgentDefinition, Agents } from './agents/definition.ts';
export { type AgentSource, loadAgents, type LoadedAgents } from './agents/load-agents.ts';
export { type Clock, systemClock } from './clock.ts';
export type { ContextOptions } from './context-sources.ts';
export type { Emitted, Observation, Output } from './core/output.ts';
export { sessionFacts, type SessionFacts, type SessionFigure } from './core/session-facts.ts';
export type { LoopState, QueuedMessage, Terminal } from './core/state.ts';
export type { Message, Usage, UserBlock } from './core/message.ts';
export type { PermissionRule } from './core/tools/context.ts';
export { ingestMessages, type LooseMessage } from './core/wire/ingest.ts';
export { ingestSession } from './core/wire/ingest-session.ts';
export { type ActorHost, loopActors, performEffect } from './effects/actors.ts';
export type { AttachmentProvider } from './effects/collect-attachments.ts';
export type { EffectIo, EffectRunner, EffectRunners } from './effects/io.ts';
export type {
  AfterAnswerHook,
  Hooks,
  NotificationHook,
  PostCompactHook,
  PostToolUseHook,
  PreCompactHook,
  PreToolUseHook,
  SessionStartHook,
  StopHook,
  UserPromptSubmitHook,
} from './hooks/hook.ts';
export type { McpHttpServer, McpServerConfig, McpServerEntry, McpStdioServer } from './mcp/config.ts';
export { createMcpServers, McpServers, type McpServersOptions, type McpToolInfo } from './mcp/servers.ts';
export type { MemoryOptions } from './memory/memory.ts';
export { hasCredentials } from './model/client.ts';
export { costOf } from './model/prices.ts';
export type { CallIo, CallModel, CallPurpose, StreamEvent } from './model/transport.ts';
export { type LoopOptions, loopOptionsSchema } from './options.ts';
export { type LoopParts, loopParts } from './loop-parts.ts';
export type { OutputSchema } from './output-schema.ts';
export type { QueryDeps, QueryOptions } from './query-options.ts';
export { takeBudget, type BudgetedPrompt } from './prompt-budget.ts';
export { query, type Query } from './query.ts';
export { type Journal, type MemoryJournal, memoryJournal, type RecordedQuery, replay } from './session/journal.ts';
export { resume } from './session/resume.ts';
export type { StartedAgent } from './sub-agents.ts';
export { loadSettings, type LoadSettingsOptions } from './settings/load.ts';
export type { Settings } from './settings/settings.ts';
export { createTrust, type Trust } from './settings/trust.ts';
export { skillPrompt, type SkillPromptOptions } from './skill-prompt.ts';
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
