/** What the model said last, as one text. */
import type { AssistantBlock, Message } from '../core/message.ts';

/** The text of the newest answer to the newest prompt. An answer that was cut and went on when asked to is one answer. */
export function finalText(messages: readonly Message[]): string {
  let text = '';
  let isApart = false;
  for (const block of lastAnswer(messages)) {
    if (block.type !== 'text') isApart = text !== '';
    else {
      // Something stood between, such as a search: two paragraphs. Else it is one text in pieces.
      text += isApart ? `\n${block.text}` : block.text;
      isApart = false;
    }
  }
  return text;
}

function lastAnswer(messages: readonly Message[]): readonly AssistantBlock[] {
  const blocks: AssistantBlock[] = [];
  for (const message of messages.toReversed()) {
    if (message.role === 'user') {
      const isAsked = message.origin === 'user';
      if (isAsked || (blocks.length > 0 && message.origin !== 'continue_request')) break;
    } else if (!message.refused) blocks.unshift(...message.content);
  }
  return blocks;
}
