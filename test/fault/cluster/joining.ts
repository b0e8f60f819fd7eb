/** Nodes that come where they should not, or otherwise than they should: and what became of those that were there. */
import { existsSync } from 'node:fs';
import { ended, place, talking } from './conversations.ts';
import { afterMoving, asLeft, type FaultCase, joined, LATER_CALLS, RESET_WORD_MS, stated } from './fault.ts';
import { kept, type Verdict } from './verdicts.ts';

/** Debian's package `faketime`. */
export const FAKETIME = '/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1';
const AHEAD = '+30s';

export const hasFaketime = (): boolean => existsSync(FAKETIME);

/** One of the victim's name, one with another master key, and one that would keep recordings on its own disk. */
export async function refused({ cluster, victim, calls }: FaultCase): Promise<Verdict> {
  const { spare } = cluster;
  const wanted: readonly [what: string, settings: Record<string, string>, word: RegExp][] = [
    ['of the same name', { PARLEY_NODE: victim.name }, /Another node of this database is called/],
    ['with another master key', { PARLEY_MASTER_KEY: 'cd'.repeat(32) }, /sealed under another master key/],
    ['with a disk of its own for recordings', { RECORDING_STORE: 'disk' }, /RECORDING_STORE/],
  ];
  const verdicts: Verdict[] = [];
  for (const [what, settings, word] of wanted) {
    const said = await spare.start({ settings }).then(
      () => 'it started',
      (error: Error) => error.message,
    );
    await spare.kill();
    const isRefused = word.test(said);
    verdicts.push(stated(`a node ${what} ${isRefused ? 'did not start, and said why' : `: ${said}`}`, isRefused));
  }
  return joined(...verdicts, kept(await ended(cluster, calls), 'while others wanted to join'));
}

/** Its machine's clock is 30 s ahead from its start on. */
export async function clockAhead({ cluster, victim }: Pick<FaultCase, 'cluster' | 'victim'>): Promise<void> {
  await victim.drain();
  await victim.start({ settings: { LD_PRELOAD: FAKETIME, FAKETIME: AHEAD, FAKETIME_DONT_FAKE_MONOTONIC: '1' } });
  await cluster.whole();
}

/** A node whose clock is 30 s ahead is judged no differently, and judges no differently: it dies like any other. */
export async function killedAhead(met: FaultCase): Promise<Verdict> {
  const { victim } = met;
  const atEpochMs = Date.now();
  await victim.kill();
  const verdict = await afterMoving(met, atEpochMs, asLeft(RESET_WORD_MS, met));
  await victim.start();
  return verdict;
}

/** The other way round: the node that goes on with the calls is the one with the strange clock. */
export async function othersKilled(met: FaultCase): Promise<Verdict> {
  const { cluster, victim } = met;
  const other = cluster.nodes.find((node) => node !== victim)!;
  const atEpochMs = Date.now();
  await other.kill();
  const verdict = await afterMoving({ ...met, victim: other }, atEpochMs, asLeft(RESET_WORD_MS, met));
  await other.start();
  await victim.drain();
  await victim.start();
  return verdict;
}

/** A machine that was away for long comes back with the version that it had. */
export async function olderComes({ cluster, calls }: FaultCase): Promise<Verdict> {
  const said = await cluster.spare.start({ root: cluster.olderRoot! }).then(
    () => 'started',
    (error: Error) => error.message.slice(0, 400),
  );
  const later = await talking(cluster, await place(cluster, LATER_CALLS));
  const verdict = kept(await ended(cluster, calls), 'while an older version came');
  const after = kept(await ended(cluster, later), 'placed meanwhile');
  await cluster.spare.kill();
  return joined({ lines: [`the older version: ${said}`], broken: [] }, verdict, after);
}
