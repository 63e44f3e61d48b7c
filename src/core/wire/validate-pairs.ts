/** Tool uses and their results: every use has one result, in the very next message, first and in order. */
import type { WireBlock, WireMessage } from './request-type.ts';
import { isServerResultType } from './sound.ts';
import type { Report, Spoken } from './validate.ts';

/** Checks that uses and results answer each other. */
export function checkPairs(spoken: readonly Spoken[], report: Report): void {
  const used = new Set<string>();
  for (const [place, { message, index }] of spoken.entries()) {
    const path = `messages.${index}`;
    if (message.role === 'assistant') {
      checkUses(message, spoken[place + 1]?.message, path, used, report);
      checkServerPairs(message, place === spoken.length - 1, path, report);
    } else {
      checkResults(message, spoken[place - 1]?.message, path, report);
      checkOrder(message, spoken[place - 1]?.message, path, report);
    }
  }
}

interface Placed {
  readonly id: string;
  /** Place of the block in its message. */
  readonly place: number;
}

function placed(message: WireMessage | undefined, type: string, member: string): readonly Placed[] {
  return (message?.content ?? []).flatMap((block, place) =>
    block.type === type ? [{ id: String(block[member]), place }] : [],
  );
}

/** The tool uses of an answer. */
function usesOf(message: WireMessage | undefined): readonly Placed[] {
  return message?.role === 'assistant' ? placed(message, 'tool_use', 'id') : [];
}

/** The tool results of a user message. */
function resultsOf(message: WireMessage | undefined): readonly Placed[] {
  return message?.role === 'user' ? placed(message, 'tool_result', 'tool_use_id') : [];
}

function checkUses(
  message: WireMessage,
  next: WireMessage | undefined,
  path: string,
  used: Set<string>,
  report: Report,
): void {
  const answered = new Set(resultsOf(next).map(({ id }) => id));
  for (const { id, place } of usesOf(message)) {
    const at = `${path}.content.${place}`;
    if (used.has(id)) report('duplicate_id', at, `The tool-use id ${id} was used before.`);
    used.add(id);
    if (!answered.has(id)) report('missing_result', at, `The tool use ${id} has no result in the next message.`);
  }
}

function checkResults(message: WireMessage, before: WireMessage | undefined, path: string, report: Report): void {
  const asked = new Set(usesOf(before).map(({ id }) => id));
  const seen = new Set<string>();
  for (const { id, place } of resultsOf(message)) {
    const at = `${path}.content.${place}`;
    if (!asked.has(id)) report('orphan_result', at, `The result ${id} answers no tool use of the message before.`);
    else if (seen.has(id)) report('duplicate_result', at, `The tool use ${id} has more than one result.`);
    seen.add(id);
  }
}

function checkOrder(message: WireMessage, before: WireMessage | undefined, path: string, report: Report): void {
  const given = new Set(resultsOf(message).map(({ id }) => id));
  const asked = new Set(usesOf(before).map(({ id }) => id));
  const expected = [...asked].filter((id) => given.has(id));
  const answered = [...given].filter((id) => asked.has(id));
  if (expected.some((id, place) => id !== answered[place])) {
    report('result_order', path, 'The results are not in the order of the calls.');
  }
  const firstOther = message.content.findIndex((block) => block.type !== 'tool_result');
  const lastResult = message.content.findLastIndex((block) => block.type === 'tool_result');
  if (firstOther >= 0 && firstOther < lastResult) {
    report('results_first', `${path}.content.${firstOther}`, 'Something stands before a tool result.');
  }
}

/** Results of the API's own tools stand behind their use in the same message; only a paused last one may be open. */
function checkServerPairs(message: WireMessage, isLast: boolean, path: string, report: Report): void {
  const open = new Map<string, number>();
  for (const [place, block] of message.content.entries()) {
    if (block.type === 'server_tool_use') open.set(String(block['id']), place);
    if (isServerResultType(block.type)) closeServerPair(block, `${path}.content.${place}`, open, report);
  }
  if (isLast) return;
  for (const [id, place] of open) {
    report('server_pair', `${path}.content.${place}`, `The server tool use ${id} has no result in its message.`);
  }
}

function closeServerPair(block: WireBlock, path: string, open: Map<string, number>, report: Report): void {
  const id = String(block['tool_use_id']);
  if (!open.delete(id)) report('server_pair', path, `The result of the server tool ${id} has no use before it.`);
}
