/** What a fault may do to calls, and what these calls say of it. Pure. */
import { percentiles } from '../../../bench/harness/percentile.ts';
import type { CallSeen } from './conversations.ts';

export interface Verdict {
  lines: string[];
  broken: string[];
}

/** Of those that were taken from their node, so many have to live on. */
const LIVED_ON_SHARE = 0.95;
/** The agent said goodbye. */
const DONE = 'agent_hangup';
const TOLD_AT_MOST = 5;

/** Calls that had to notice nothing: one stream, one owner, all said. */
export function kept(calls: readonly CallSeen[], what: string): Verdict {
  const harmed = calls.filter(
    ({ endedReason, epoch, isWhole, phone }) =>
      endedReason !== DONE || epoch !== 1 || !isWhole || phone?.streams.length !== 1,
  );
  return {
    lines: [`${calls.length - harmed.length} of ${calls.length} calls ${what} noticed nothing`],
    broken: harmed.slice(0, TOLD_AT_MOST).map((call) => `a call ${what} noticed it: ${described(call)}`),
  };
}

/** Calls that were taken from a node at `atEpochMs`: how many lived on, and after how long they heard a word again. */
export function moved(calls: readonly CallSeen[], atEpochMs: number, wordLimitMs: number): Verdict {
  if (calls.length === 0) return { lines: [], broken: ['the fault met no call'] };
  const lived = calls.filter(({ endedReason, epoch }) => endedReason === DONE && epoch >= 2);
  const waitedMs = lived.flatMap(({ phone }) => {
    const again = phone?.streams.find(({ openedAtEpochMs }) => openedAtEpochMs > atEpochMs);
    const word = phone?.agentBegan.find((began) => again !== undefined && began.atEpochMs >= again.openedAtEpochMs);
    return word === undefined ? [] : [word.atEpochMs - atEpochMs];
  });
  const [p50, p95, most] = percentiles(waitedMs, [0.5, 0.95, 1]).map(Math.round);
  const lost = new Map<string, number>();
  for (const call of calls) {
    if (!lived.includes(call)) lost.set(String(call.endedReason), (lost.get(String(call.endedReason)) ?? 0) + 1);
  }
  const causes = [...lost].map(([cause, count]) => `${count} × ${cause}`).join(', ');
  const holed = lived.filter(({ isWhole }) => !isWhole);
  const broken = holed.slice(0, TOLD_AT_MOST).map((call) => `something was never said: ${described(call)}`);
  if (lived.length < LIVED_ON_SHARE * calls.length) broken.push(`only ${lived.length} of ${calls.length} lived on`);
  if (waitedMs.length < lived.length) broken.push(`${lived.length - waitedMs.length} went on without a word`);
  if (!(p95! <= wordLimitMs)) broken.push(`the next word came after p95 ${p95} ms, ${wordLimitMs} ms are allowed`);
  return {
    lines: [
      `${lived.length} of ${calls.length} calls lived on${causes === '' ? '' : `; the others ended by ${causes}`}`,
      `next word after p50 ${p50} ms, p95 ${p95} ms (${wordLimitMs} allowed), longest ${most} ms`,
    ],
    broken,
  };
}

function described({ callUuid, node, endedReason, epoch, isWhole, phone }: CallSeen): string {
  const streams = phone?.streams.length ?? 0;
  return `${callUuid} of ${node}: ${endedReason}, epoch ${epoch}, ${streams} streams, ${isWhole ? 'whole' : 'not whole'}`;
}
