/** The page on scenario files, held against their schema; its examples run. */
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { modelEntrySchema, parseScenario, scenarioSchema } from '../../src/testing/scenario.ts';
import { simulate } from '../../src/testing/simulate.ts';
import { blocksOf, codes, names, tableUnder, textOf } from './markdown.ts';

/** The keys of an object schema, or of every member of a union of them. */
function keysOf(schema: z.ZodType): readonly string[] {
  if (schema instanceof z.ZodOptional) return keysOf(schema.unwrap() as z.ZodType);
  if (schema instanceof z.ZodArray) return keysOf(schema.element as z.ZodType);
  if (schema instanceof z.ZodUnion) return [...new Set((schema.options as readonly z.ZodType[]).flatMap(keysOf))];
  if (schema instanceof z.ZodObject) return Object.keys(schema.shape);
  throw new Error('The schema has no keys.');
}

describe('scenario files', () => {
  const page = 'docs/scenarios.md';
  const { shape } = scenarioSchema;
  const [stream] = modelEntrySchema.options;

  it('list every key of the file, of answers, of streams and of tools', () => {
    expect(names(page, '## The file').toSorted()).toEqual(Object.keys(shape).toSorted());
    expect(names(page, '## Answers of the model').toSorted()).toEqual(keysOf(modelEntrySchema).toSorted());
    expect(names(page, '### Items of a stream').toSorted()).toEqual(keysOf(stream.shape.stream).toSorted());
    const tool = shape.tools.unwrap().valueType;
    expect(names(page, '## Tools').toSorted()).toEqual(keysOf(tool).toSorted());
    const results = tableAfter(page, '| key of a result | meaning |');
    expect(results.toSorted()).toEqual(keysOf(tool.shape.results).toSorted());
  });

  it('list every key of a hook', () => {
    const { stop, preToolUse, postToolUse } = shape.hooks.unwrap().shape;
    const listed = new Map(
      tableUnder(page, '## Hooks and permissions').map(([list = '', keys = '']) => [codes(list)[0], codes(keys)]),
    );
    expect(listed.get('stop')?.toSorted()).toEqual(keysOf(stop).toSorted());
    expect(listed.get('preToolUse')?.toSorted()).toEqual(keysOf(preToolUse).toSorted());
    expect(listed.get('postToolUse')?.toSorted()).toEqual(keysOf(postToolUse).toSorted());
  });

  const examples = blocksOf(page).filter((block) => block.marks.has('scenario'));

  it.each(examples)('$page:$line runs without a violation', async ({ text }) => {
    const result = await simulate(parseScenario(JSON.parse(text)));
    expect(result.violations).toEqual([]);
    expect(result.terminal).toMatchObject({ reason: 'completed', outcome: 'done' });
  });
});

/** The names in the first column of the table that begins with a line. */
function tableAfter(page: string, head: string): readonly string[] {
  const lines = textOf(page).split('\n');
  const from = lines.indexOf(head) + 2;
  const end = lines.findIndex((line, index) => index >= from && !line.startsWith('|'));
  return lines.slice(from, end).flatMap((line) => codes(line.split('|')[1] ?? ''));
}
