/**
 * Thinking with a fixed budget in a tool cycle. A model that was told to think (`thinking: enabled`) must have begun the
 * cycle with thinking: the API refuses results that go back to an answer without (`Expected thinking or
 * redacted_thinking, but found tool_use`). Adaptive thinking has no such rule.
 */
import type { WireMessage } from './request-type.ts';

/**
 * Index of the answer that began the running tool cycle and holds no thinking at its start; null when no cycle runs, or
 * when it began with thinking. A cycle runs when the newest user message holds a tool result, or when a paused answer
 * stands last; it reaches back over the user messages that hold nothing but results. Answers in its middle may go without
 * thinking, as models without interleaved thinking give them.
 */
export function unthinkingStart(messages: readonly WireMessage[]): number | null {
  let answer: number | null = null;
  for (let index = messages.length - 1; index >= 0; index -= 1) {
    const { role, content } = messages[index]!;
    if (role === 'system') continue;
    if (role === 'assistant') {
      answer = index;
      continue;
    }
    const isResult = ({ type }: WireMessage['content'][number]): boolean => type === 'tool_result';
    const goesOn = index === newestSpoken(messages) ? content.some(isResult) : content.every(isResult);
    if (!goesOn) break;
  }
  const first = answer === null ? undefined : messages[answer]?.content[0]?.type;
  return first === 'thinking' || first === 'redacted_thinking' ? null : answer;
}

function newestSpoken(messages: readonly WireMessage[]): number {
  return messages.findLastIndex(({ role }) => role !== 'system');
}
