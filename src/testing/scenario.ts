/** The scenario format: what the outside does to the loop, as a JSON file. */
import { z } from 'zod';
import { loopOptionsSchema } from '../options.ts';
import { faultIn } from './scenario-fault.ts';

const text = z.string();
const count = z.int().nonnegative();
const milliseconds = z.number().nonnegative();
const json = z.json();
const object = z.record(z.string(), json);

/** Figures of an answer, in the short form. */
export const usageSchema = z.strictObject({
  input: z.number().optional(),
  output: z.number().optional(),
  cacheRead: z.number().optional(),
  cacheCreation: z.number().optional(),
});

const streamItem = z.union([
  z.strictObject({ text, block: z.boolean().optional(), message: text.optional() }),
  /** The next text begins a new block. */
  z.strictObject({ block: z.literal(true) }),
  z.strictObject({ thinking: text, signature: text.optional(), message: text.optional() }),
  z.strictObject({ redacted: text, message: text.optional() }),
  z.strictObject({
    tool: text,
    id: text,
    json: z.array(text).optional(),
    input: object.optional(),
    message: text.optional(),
    /** The block never ends: the stream is cut inside it. */
    open: z.boolean().optional(),
  }),
  z.strictObject({ serverTool: text, id: text, input: object.optional() }),
  z.strictObject({ serverResult: text, content: json.optional() }),
  /** The API's own summary, for a request that asks for a compaction. */
  z.strictObject({ compaction: text }),
  z.strictObject({ message: text }),
  z.strictObject({ usage: usageSchema }),
  z.strictObject({ blockStop: count }),
  z.strictObject({ wait: milliseconds }),
  z.strictObject({ ping: z.literal(true) }),
  z.strictObject({ stop: text.nullable() }),
  z.strictObject({ error: text, message: text.optional() }),
  z.strictObject({ eof: z.literal(true) }),
  z.strictObject({ reset: z.literal(true) }),
  z.strictObject({ stall: z.literal(true) }),
]);

const times = { times: z.int().positive().optional(), repeat: z.boolean().optional() };

/** Above so many tokens the input is refused as too long, and the entry stays. */
const picky = { tooLongOver: count.optional() };

const streamEntry = z.strictObject({ stream: z.array(streamItem), usage: usageSchema.optional(), ...picky, ...times });

const errorEntry = z.strictObject({
  status: z.int().min(300).max(599),
  type: text.optional(),
  message: text.optional(),
  /** Sent as it is instead of the JSON body of the API. */
  body: text.optional(),
  details: object.optional(),
  headers: z.record(z.string(), text).optional(),
  ...times,
});

const rawEntry = z.strictObject({
  raw: z.array(z.strictObject({ event: text, data: json })),
  ...times,
});

const textEntry = z.strictObject({ text, stop: text.optional(), usage: usageSchema.optional(), ...picky, ...times });

/** What the scripted model answers to one request. */
export const modelEntrySchema = z.union([streamEntry, errorEntry, rawEntry, textEntry]);

const toolResult = z.union([
  z.strictObject({
    text,
    ms: milliseconds.optional(),
    isError: z.boolean().optional(),
    cancelsSiblings: z.boolean().optional(),
  }),
  z.strictObject({ size: count, ms: milliseconds.optional() }),
  z.strictObject({ words: z.int().positive(), ms: milliseconds.optional() }),
  z.strictObject({ throws: json, ms: milliseconds.optional() }),
  z.strictObject({ hangs: z.literal(true) }),
  z.strictObject({ content: z.array(object), isError: z.boolean().optional(), ms: milliseconds.optional() }),
]);

const toolScript = z.strictObject({
  safe: z.boolean().optional(),
  readOnly: z.boolean().optional(),
  replaySafe: z.boolean().optional(),
  results: z.array(toolResult).min(1),
});

/** True, or the words for it. */
const said = z.union([z.literal(true), text]);

const stopHook = z.union([
  z.strictObject({ block: z.array(text) }),
  z.strictObject({ pass: z.literal(true) }),
  z.strictObject({ prevent: said }),
  z.strictObject({ crash: said }),
]);

const preToolUse = z.strictObject({
  tool: text,
  id: text.optional(),
  deny: said.optional(),
  allow: z.boolean().optional(),
  ask: z.boolean().optional(),
  input: object.optional(),
  context: text.optional(),
  stop: said.optional(),
  crash: said.optional(),
});

const postToolUse = z.strictObject({
  tool: text,
  id: text.optional(),
  context: text.optional(),
  stop: said.optional(),
  crash: said.optional(),
});

const moment = z.union([count, z.strictObject({ phase: text, after: milliseconds }), z.strictObject({ tool: text })]);

const userAct = z.union([
  z.strictObject({ abort: z.enum(['interrupt', 'submit']), text: text.optional(), at: moment }),
  z.strictObject({ submit: text, at: moment }),
]);

/** Blocks of the API, loosely; `{"image": {"width": 2162, "height": 322}}` and `{"words": 500}` are short for blocks. */
const looseBlock = z.looseObject({
  image: z.strictObject({ width: z.int().positive(), height: z.int().positive() }).optional(),
  words: z.int().positive().optional(),
});

const prompt = z.union([text, z.array(looseBlock)]);

/** The user asks for a compaction. */
const compact = z.strictObject({ instructions: text.optional() });

const followUp = z.union([
  z.strictObject({ compact, config: loopOptionsSchema.partial().optional() }),
  z.strictObject({ prompt, config: loopOptionsSchema.partial().optional() }),
  z.strictObject({ resume: z.strictObject({ cut: count }) }),
]);

const storedMessage = z.looseObject({
  role: z.enum(['user', 'assistant']),
  content: z.union([text, z.array(looseBlock)]),
  /** What the answer reported when it was stored: as the API writes it, or in the short form of an answer's `usage`. */
  usage: z.json().optional(),
});

/** Its model is called `agent-` and the name. */
const agentName = z.string().regex(/^[a-z][a-z0-9-]*$/, 'use a-z, 0-9 and -');

/** The whole file. */
export const scenarioSchema = z.strictObject({
  name: text,
  /** A sentence for the reader; not used. */
  why: text.optional(),
  seed: z.int().optional(),
  config: loopOptionsSchema.optional(),
  prompt: prompt.optional(),
  messages: z.array(storedMessage).optional(),
  compact: compact.optional(),
  model: z.array(modelEntrySchema),
  agents: z.record(agentName, z.strictObject({ model: z.array(modelEntrySchema) })).optional(),
  summary: z.array(modelEntrySchema).optional(),
  small: z.array(modelEntrySchema).optional(),
  tools: z.record(z.string(), toolScript).optional(),
  staged: z.array(z.strictObject({ from: count, to: count, summary: text })).optional(),
  hooks: z
    .strictObject({
      stop: z.array(stopHook).optional(),
      preToolUse: z.array(preToolUse).optional(),
      postToolUse: z.array(postToolUse).optional(),
    })
    .optional(),
  permissions: z
    .array(z.strictObject({ tool: text, answer: z.enum(['allow', 'deny', 'deny+interrupt', 'waits']) }))
    .optional(),
  user: z.array(userAct).optional(),
  // oxlint-disable-next-line unicorn/no-thenable -- the word of the format; nobody awaits a scenario
  then: z.array(followUp).optional(),
});

/** A checked scenario file. */
export type Scenario = z.output<typeof scenarioSchema>;
/** What the scripted model answers to one request. */
export type ModelEntry = z.output<typeof modelEntrySchema>;
/** One step of a stream. */
export type StreamItem = z.output<typeof streamItem>;
/** Figures that an answer reports. */
export type ScriptedUsage = z.output<typeof usageSchema>;

/** A file that is no scenario: the sentence names the file, the place and what is expected there. */
export class ScenarioError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'ScenarioError';
  }
}

/** Checks a scenario. Throws a `ScenarioError` for the first thing that is wrong. */
export function parseScenario(value: unknown, fileName = 'the scenario'): Scenario {
  const result = scenarioSchema.safeParse(value);
  if (result.success) return result.data;
  const { place, message } = faultIn(result.error.issues, value);
  throw new ScenarioError(`${fileName} is no scenario: at ${place === '' ? 'the top' : place}: ${message}.`);
}
