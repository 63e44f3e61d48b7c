/** What a command hook reads on its standard input: the JSON that Claude Code documents, with its key names. */
import type { Message } from '../../core/message.ts';
import type { ToolCallView, ToolResultView } from '../../tools/hook-port.ts';
import type {
  HookSession,
  NotificationView,
  PostCompactView,
  PreCompactView,
  PromptView,
  SessionStartView,
  StopView,
} from '../hook.ts';
import type { HookEvent } from './events.ts';

interface Views {
  readonly SessionStart: SessionStartView;
  readonly UserPromptSubmit: PromptView;
  readonly PreToolUse: ToolCallView;
  readonly PostToolUse: ToolResultView;
  readonly Notification: NotificationView;
  readonly PreCompact: PreCompactView;
  readonly PostCompact: PostCompactView;
  readonly Stop: StopView;
  readonly SubagentStop: StopView;
}

const own: { readonly [Event in HookEvent]: (view: Views[Event]) => object } = {
  SessionStart: ({ source }) => ({ source }),
  UserPromptSubmit: ({ prompt }) => ({ prompt }),
  PreToolUse: callInput,
  PostToolUse: (view) => ({ ...callInput(view), tool_response: responseOf(view) }),
  Notification: ({ message, kind }) => ({ message, notification_type: kind }),
  PreCompact: ({ trigger, instructions }) => ({ trigger, custom_instructions: instructions ?? '' }),
  PostCompact: ({ trigger, summary }) => ({ trigger, compact_summary: summary }),
  Stop: stopInput,
  SubagentStop: (view) => ({ ...stopInput(view), agent_type: view.querySource.replace(/^agent:/, '') }),
};

/** The input of a command, as one object of plain data. */
export function commandInput<Event extends HookEvent>(
  event: Event,
  view: Views[Event] & HookSession,
  transcriptPath: string,
): object {
  return {
    session_id: view.sessionId,
    transcript_path: transcriptPath,
    cwd: view.cwd,
    permission_mode: view.permissionMode,
    hook_event_name: event,
    ...own[event](view),
  };
}

function callInput({ toolName, input, toolUseId }: ToolCallView): object {
  return { tool_name: toolName, tool_input: input, tool_use_id: toolUseId };
}

/** Each tool of Claude Code has a shape of its own; these are the members that hooks look for. */
function responseOf({ content, isError, input }: ToolResultView): object {
  const text = content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n');
  const { file_path: filePath, command } = input;
  return {
    content,
    success: !isError,
    ...(typeof filePath === 'string' ? { filePath } : {}),
    ...(typeof command === 'string' ? { stdout: text, stderr: '', interrupted: false } : {}),
  };
}

function stopInput({ stopHookActive, messages }: StopView): object {
  return { stop_hook_active: stopHookActive, last_assistant_message: lastWords(messages) };
}

function lastWords(messages: readonly Message[]): string {
  const answer = messages.findLast((message) => message.role === 'assistant');
  return (answer?.content ?? []).flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n');
}
