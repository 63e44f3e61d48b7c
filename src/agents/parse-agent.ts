/** Reads a definition file: YAML front matter, and the system prompt under it. */
import { z } from 'zod';
import { frontMatterOf } from '../markdown/front-matter.ts';
import { type AgentDefinition, definitionProblem } from './definition.ts';

/** What a file holds, or why it cannot be used (the end of a sentence). */
export type ParsedAgent = { readonly name: string; readonly agent: AgentDefinition } | { readonly problem: string };

const list = z.union([z.string(), z.array(z.string())]);

/** Other members, such as a colour, belong to other programs. */
const frontMatter = z.object({
  name: z.coerce.string(),
  description: z.string(),
  tools: list.nullish(),
  disallowedTools: list.nullish(),
  model: z.string().nullish(),
  maxTurns: z.coerce.number().nullish(),
  permissionMode: z.string().nullish(),
});

/** Takes the text of a definition file apart. */
export function parseAgent(text: string): ParsedAgent {
  const { members, body } = frontMatterOf(text);
  if (members === null) return { problem: 'it does not begin with front matter between two lines ---' };
  const parsed = frontMatter.safeParse(members);
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    return { problem: `${issue?.path.map(String).join('.') || 'the front matter'}: ${issue?.message ?? 'unreadable'}` };
  }
  const { name, description, tools, disallowedTools, model, maxTurns, permissionMode } = parsed.data;
  const agent = withoutEmpty({
    description,
    prompt: body,
    tools: namesOf(tools),
    disallowedTools: namesOf(disallowedTools),
    model,
    maxTurns,
    permissionMode,
  });
  const problem = definitionProblem(name, agent);
  return problem === null ? { name, agent: agent as unknown as AgentDefinition } : { problem };
}

/** A list of names, with or without commas; `Agent(a, b)` stands for Agent. No list, and `*`: null, for all tools. */
function namesOf(given: string | readonly string[] | null | undefined): readonly string[] | null {
  if (given === null || given === undefined) return null;
  const entries = typeof given === 'string' ? given.replace(/^\[|\]$/g, '').split(/,(?![^(]*\))/) : given;
  const names = entries
    .map((entry) => entry.trim().replace(/^(Agent|Task)\(.*\)$/s, '$1'))
    .filter((name) => name !== '');
  return names.includes('*') ? null : names;
}

function withoutEmpty(members: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== null && value !== undefined));
}
