/** Queries with the real file tools in a real folder, and what they sent and showed. */
import { builtInTools } from '../../src/tools/builtin/index.ts';
import type { QueryOptions } from '../../src/query-options.ts';
import type { ModelEntry } from '../../src/testing/scenario.ts';
import { drain, scriptedQuery } from './scripted.ts';

export const done: ModelEntry = { stream: [{ text: 'done' }, { stop: 'end_turn' }] };

/** An answer that calls one tool. */
export function use(tool: string, id: string, input: Record<string, string>): ModelEntry {
  return { stream: [{ tool, id, input }, { stop: 'tool_use' }] };
}

/** Runs a query in `cwd` to its end. */
export async function runIn(cwd: string, script: readonly ModelEntry[], options: Partial<QueryOptions> = {}) {
  const { query, model } = scriptedQuery(script, {
    cwd,
    tools: builtInTools(),
    permissionMode: 'acceptEdits',
    ...options,
  });
  const { emitted, terminal } = await drain(query);
  const texts = (origin: 'attachment' | 'tool_results'): readonly string[] =>
    emitted.flatMap((item) =>
      item.type === 'user' && item.message.origin === origin
        ? item.message.content.map((block) => JSON.stringify('text' in block ? block.text : block))
        : [],
    );
  const system = JSON.stringify(model.requests[0]?.body.system ?? '');
  return {
    query,
    terminal,
    system,
    model,
    requests: model.requests,
    notices: emitted.flatMap((item) => (item.type === 'notice' ? [item.text] : [])),
    attached: texts('attachment'),
    results: texts('tool_results'),
  };
}
