/**
 * Faults in a thread of a running process, brought in from outside by a module that is loaded before Parley
 * (`thread-fault-preload.mjs`): nothing of it is in the code that is tested. Called by the nemesis and by fault tests.
 * The processes must have been started with what `injectable` returns in their environment.
 */
import { mkdtempSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as wait } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { packageRoot } from '../../../src/config/built-entry.ts';

export const THREAD_DEATHS = ['throw', 'spin', 'out_of_memory', 'exit', 'terminate'] as const;
export type ThreadDeath = (typeof THREAD_DEATHS)[number];

/** A guard against hanging: a machine without time for the process answers late. */
const LIMIT_MS = 60_000;
/** In the 300 ms for which threads are looked at, the least of one that is at work. */
const TURNS_OF_A_CALL = 5;
/** Then there may be no call. */
const LOOKS_AT_MOST = 5;
/** Plain JavaScript, which the build does not copy: from `dist/` too it is taken from where it lies. */
const PRELOAD = pathToFileURL(join(packageRoot(), 'test', 'fault', 'nemesis', 'thread-fault-preload.mjs'));

let socketDir: string | undefined;

/** Environment of processes whose threads are to be killed. */
export function injectable(): Record<string, string> {
  // Short: the path of a socket has room for 107 bytes.
  socketDir ??= mkdtempSync(join(tmpdir(), 'faults-'));
  return { NODE_OPTIONS: `--import ${PRELOAD.href}`, THREAD_FAULT_SOCKETS: socketDir };
}

/**
 * Ends the thread of this name in one of the five ways. Resolves with when it was told to; rejects when there is no
 * such thread.
 */
export async function killThread(pid: number, thread: string, death: ThreadDeath): Promise<{ atEpochMs: number }> {
  const atEpochMs = Date.now();
  const { gone } = await ask<{ gone?: true }>(pid, { kill: { thread, death } });
  if (gone) throw new Error(`process ${pid} has no thread ${thread}`);
  return { atEpochMs };
}

/**
 * Of the threads whose name matches, the one whose loop turned most often in 300 ms: calls wake theirs each 20 ms, a
 * spare sleeps. Where the process stood still meanwhile none did, and it is looked at again.
 */
export async function busiestThread(pid: number, name: RegExp): Promise<string> {
  const { names } = await ask<{ names: string[] }>(pid, {});
  const matching = names.filter((one) => name.test(one));
  if (matching.length === 0) throw new Error(`process ${pid} has no thread ${name}, only ${names.join(', ')}`);
  for (let left = LOOKS_AT_MOST; ; left--) {
    const before = await ask<Record<string, number>>(pid, { turns: matching });
    await wait(300);
    const after = await ask<Record<string, number>>(pid, { turns: matching });
    const turns = (one: string): number => (after[one] ?? 0) - (before[one] ?? 0);
    const busiest = matching.toSorted((a, b) => turns(b) - turns(a))[0]!;
    if (turns(busiest) >= TURNS_OF_A_CALL || left === 1) return busiest;
  }
}

/** One question and its answer, over the socket of the process. Rejects when the process is gone. */
async function ask<Answer>(pid: number, question: object): Promise<Answer> {
  const socket = connect(join(socketDir ?? '', `${pid}.sock`));
  socket.setTimeout(LIMIT_MS, () =>
    socket.destroy(new Error(`process ${pid} did not take the fault in ${LIMIT_MS} ms`)),
  );
  socket.write(`${JSON.stringify(question)}\n`);
  const answer = await text(socket);
  if (answer === '') throw new Error(`process ${pid} closed its socket for faults`);
  return JSON.parse(answer) as Answer;
}
