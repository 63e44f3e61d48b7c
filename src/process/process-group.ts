/** A process and everything it started, as one thing to be killed. POSIX groups; elsewhere only the process itself. */
import { readdirSync, readFileSync } from 'node:fs';
import { type Clock, sleep } from '../clock.ts';

/** Between two looks whether a group is gone, in milliseconds; doubled each time. */
const look = { firstMs: 5, mostMs: 80 } as const;
/** How long a killed group may take to be gone: the kernel needs moments, a process in a broken disk read for ever. */
const afterKillMs = 1_000;
const never = new AbortController().signal;

/** Sends a signal to every process of a group; false when there is none. */
function signalGroup(pid: number, signal: NodeJS.Signals): boolean {
  try {
    return process.kill(process.platform === 'win32' ? pid : -pid, signal);
  } catch {
    return false;
  }
}

/** SIGTERM, then SIGKILL for what is left after `graceMs`. Resolves when nothing is left, or nothing more can be done. */
export async function killGroup(pid: number, clock: Clock, graceMs: number): Promise<void> {
  signalGroup(pid, 'SIGTERM');
  if (await isGoneWithin(pid, clock, graceMs)) return;
  signalGroup(pid, 'SIGKILL');
  await isGoneWithin(pid, clock, afterKillMs);
}

async function isGoneWithin(pid: number, clock: Clock, ms: number): Promise<boolean> {
  const until = clock.now() + ms;
  for (let wait: number = look.firstMs; isGroupAlive(pid); wait = Math.min(wait * 2, look.mostMs)) {
    if (clock.now() >= until) return false;
    await sleep(clock, wait, never);
  }
  return true;
}

/** True when a process of the group still runs. */
export function isGroupAlive(pid: number): boolean {
  try {
    process.kill(process.platform === 'win32' ? pid : -pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
  return process.platform !== 'linux' || hasLivingMember(pid);
}

/** In a container whose first process collects no dead children they stay as zombies, which can be signalled and do nothing. */
function hasLivingMember(pid: number): boolean {
  for (const entry of readdirSync('/proc')) {
    if (!/^\d+$/.test(entry)) continue;
    const [state, , group] = statOf(entry);
    if (Number(group) === pid && state !== 'Z' && state !== 'X') return true;
  }
  return false;
}

/** State, parent and group of a process; nothing for one that has just ended. */
function statOf(pid: string): readonly string[] {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name, in parentheses, may hold anything.
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ', 3);
  } catch {
    return [];
  }
}

/** Groups that run: under a command that is waited for, or left in the background by one that ended. */
const running = new Set<number>();

/** Remembers a group until `untrackGroup`, so that it does not outlive the host. */
export function trackGroup(pid: number): void {
  // Those in the background end without a word.
  for (const other of running) if (!isGroupAlive(other)) running.delete(other);
  if (running.size === 0) process.on('exit', killAllCommands);
  running.add(pid);
}

/** Forgets a group that is gone. */
export function untrackGroup(pid: number): void {
  running.delete(pid);
  if (running.size === 0) process.off('exit', killAllCommands);
}

/** Kills at once whatever the commands of tools and hooks still run, in the background too. Happens by itself when the host exits. */
export function killAllCommands(): void {
  for (const pid of running) signalGroup(pid, 'SIGKILL');
  running.clear();
  process.off('exit', killAllCommands);
}
