/** Tool uses and their results: every use has one result, in the very next message, first and in order. */
import type { WireBlock, WireMessage } from './request-type.ts';
import type { Report } from './validate.ts';

export function checkPairs(messages: readonly WireMessage[], report: Report): void {
  const used = new Set<string>();
  for (const [index, message] of messages.entries()) {
    if (message.role === 'assistant') checkUses(message, messages[index + 1], index, used, report);
    if (message.role === 'user') checkResults(message, messages[index - 1], index, report);
  }
}

function idsOf(message: WireMessage | undefined, type: string, member: string): readonly string[] {
  return (message?.content ?? []).filter((block) => block.type === type).map((block) => String(block[member]));
}

function checkUses(
  message: WireMessage,
  next: WireMessage | undefined,
  index: number,
  used: Set<string>,
  report: Report,
): void {
  const path = `messages.${index}`;
  const results = next?.role === 'user' ? idsOf(next, 'tool_result', 'tool_use_id') : [];
  for (const id of idsOf(message, 'tool_use', 'id')) {
    if (used.has(id)) report('duplicate_id', path, `The tool-use id ${id} was used before.`);
    used.add(id);
    const count = results.filter((result) => result === id).length;
    if (count === 0) report('missing_result', path, `The tool use ${id} has no result in the next message.`);
    if (count > 1) report('duplicate_result', path, `The tool use ${id} has ${count} results.`);
  }
  checkServerPairs(message, next === undefined, path, report);
}

/** Results of the API's own tools stand behind their use in the same message; a paused one may still be open. */
function checkServerPairs(message: WireMessage, isLast: boolean, path: string, report: Report): void {
  const open = new Set<string>();
  for (const block of message.content) {
    if (block.type === 'server_tool_use') open.add(String(block['id']));
    if (!isServerResult(block)) continue;
    const id = String(block['tool_use_id']);
    if (!open.delete(id)) report('server_pair', path, `The result of the server tool ${id} has no use before it.`);
  }
  if (isLast) return;
  for (const id of open) report('server_pair', path, `The server tool use ${id} has no result in its message.`);
}

function isServerResult(block: WireBlock): boolean {
  return block.type !== 'tool_result' && block.type.endsWith('_tool_result');
}

function checkResults(message: WireMessage, before: WireMessage | undefined, index: number, report: Report): void {
  const path = `messages.${index}`;
  const asked = before?.role === 'assistant' ? idsOf(before, 'tool_use', 'id') : [];
  const given = idsOf(message, 'tool_result', 'tool_use_id');
  for (const id of given) {
    if (!asked.includes(id))
      report('orphan_result', path, `The result ${id} answers no tool use of the message before.`);
  }
  const expected = asked.filter((id) => given.includes(id));
  const answered = given.filter((id) => asked.includes(id));
  if (expected.length === answered.length && expected.some((id, place) => id !== answered[place])) {
    report('result_order', path, 'The results are not in the order of the calls.');
  }
  const firstOther = message.content.findIndex((block) => block.type !== 'tool_result');
  const lastResult = message.content.findLastIndex((block) => block.type === 'tool_result');
  if (firstOther >= 0 && firstOther < lastResult)
    report('results_first', path, 'Something stands before a tool result.');
}
