/** The demo: a scripted model behind the real client, with real tools in a temporary repository. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { systemClock } from '../../clock.ts';
import { watchPath } from '../../inspect/watch-path.ts';
import type { QueryOptions } from '../../query-options.ts';
import { ScriptedModel } from '../../testing/scripted-model.ts';
import { listen } from '../../testing/scripted-server.ts';
import { builtInTools } from '../../tools/builtin/index.ts';
import type { RunFlags } from '../arguments.ts';
import { exitStatus, statusOf } from '../exit-status.ts';
import { endingOf } from '../format.ts';
import type { CliIo } from '../io.ts';
import { isForPeople, rendererFor } from '../render.ts';
import { runQuery } from '../run-query.ts';
import { isSomethingPiped } from '../stdin.ts';
import { buggyFile } from './files.ts';
import { firstLine, report, verdict } from './report.ts';
import { makeRepository, runTests, withThisNode } from './repository.ts';
import { demoScript, testCommand } from './script.ts';

const demoPrompt = `Fix the null pointer bug in ${buggyFile}`;

/** How long a prompt that is piped in may take to show itself, in milliseconds. */
const pipePatienceMs = 100;

/** Runs the demo and gives the exit status: 0 when the query is done and the test went from red to green. */
export async function runDemo(prompt: string, flags: RunFlags, io: CliIo): Promise<number> {
  // Words for people go beside the output of a program.
  const say = isForPeople(flags) ? io.out : io.err;
  const hasPrompt = prompt !== '' || (await isSomethingPiped(io, pipePatienceMs));
  say(`${firstLine(hasPrompt, io.colors)}\n`);
  const folder = await makeRepository();
  const before = await runTests(folder);
  say(`Repository: ${folder}\nTests before: ${verdict(before, io.colors)}\n\n`);
  say(`${io.colors.dim('>')} ${demoPrompt}\n\n`);
  const { terminal, path, calls } = await runScripted(folder, flags, io);
  const status = statusOf(terminal);
  if (status === exitStatus.interrupted) return status;
  const after = await runTests(folder);
  const fixed = readFileSync(join(folder, buggyFile), 'utf8');
  const journey = {
    before,
    after,
    fixed,
    path: [...path, endingOf(terminal)],
    calls,
    overloads: calls - terminal.turns,
  };
  say(`\n${report(journey, io.colors)}\n`);
  return after.isGreen || status !== exitStatus.done ? status : exitStatus.notDone;
}

/** The query against the scripted model, over a real socket and the real client. */
async function runScripted(folder: string, flags: RunFlags, io: CliIo) {
  const model = new ScriptedModel({
    model: demoScript,
    limits: { contextWindow: 200_000, maxOutput: 64_000 },
    clock: systemClock,
    profile: 'plain',
  });
  const server = await listen(model);
  try {
    const path: string[] = [];
    const inspect = watchPath({
      onContinue: (name) => path.push(name),
      ...(flags.verbose ? { onPhase: (phase) => io.err(io.colors.dim(`[${phase}]\n`)) } : {}),
    });
    const { terminal } = await runQuery(demoOptions(folder, server.url, inspect), rendererFor(flags, io), io);
    return { terminal, path, calls: model.requests.length };
  } finally {
    await server.close();
  }
}

function demoOptions(cwd: string, baseUrl: string, inspect: NonNullable<QueryOptions['inspect']>): QueryOptions {
  return {
    prompt: demoPrompt,
    model: 'scripted-model',
    baseUrl,
    apiKey: 'scripted',
    profile: 'plain',
    cwd,
    permissionMode: 'acceptEdits',
    rules: [{ behavior: 'allow', rule: `Bash(${testCommand})` }],
    tools: builtInTools({ bash: { env: withThisNode(process.env) } }),
    inspect,
  };
}
