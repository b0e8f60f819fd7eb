/**
 * What came of one offering: who was refused, who was answered and died, when the first word came, how many were
 * carried at once. Pure.
 */
import { percentile } from '../harness/percentile.ts';
import type { LoggedCall, OfferedLead } from './offer-leads.ts';

/** What the emulator saw of a call. */
export interface SeenCall {
  answeredAtEpochMs: number | null;
  firstAgentSoundAtEpochMs: number | null;
  hungUpAtEpochMs: number | null;
  maxFrameLatenessMs: number;
}

export interface Offering {
  offered: number;
  accepted: number;
  /** By status and code. */
  refused: Map<string, number>;
  /** Refusals without `Retry-After`. */
  withoutRetryAfter: number;
  answered: number;
  /** Answered, and then `failed`. By reason. */
  died: Map<string, number>;
  /** Answered, and never heard a word. */
  unheard: number;
  firstWordMs: { p50: number; p95: number; max: number };
  /** The worst of the calls' own p95 are what a caller remembers. */
  replyP95Ms: { p50: number; p95: number };
  mostAtOnce: number;
  notOver: number;
  emulatorLateMs: number;
}

export function judge(
  answers: readonly OfferedLead[],
  logged: readonly LoggedCall[],
  seen: readonly SeenCall[],
): Offering {
  const refused = new Map<string, number>();
  for (const { status, code } of answers) if (status !== 200) count(refused, `${status} ${code ?? ''}`.trim());
  const died = new Map<string, number>();
  for (const { status, endedReason, answeredAt } of logged) {
    if (status === 'failed' && answeredAt !== null) count(died, endedReason ?? 'unknown');
  }
  const answered = seen.filter(({ answeredAtEpochMs }) => answeredAtEpochMs !== null);
  const heard = answered.filter(({ firstAgentSoundAtEpochMs }) => firstAgentSoundAtEpochMs !== null);
  const firstWords = heard.map((call) => call.firstAgentSoundAtEpochMs! - call.answeredAtEpochMs!);
  const replies = logged.flatMap(({ latency }) => (latency?.mouthToEarMs ? [latency.mouthToEarMs.p95] : []));
  return {
    offered: answers.length,
    accepted: answers.filter(({ status }) => status === 200).length,
    refused,
    withoutRetryAfter: answers.filter(({ status, retryAfter }) => status !== 200 && retryAfter === null).length,
    answered: answered.length,
    died,
    unheard: answered.length - heard.length,
    firstWordMs: {
      p50: percentile(firstWords, 0.5),
      p95: percentile(firstWords, 0.95),
      max: percentile(firstWords, 1),
    },
    replyP95Ms: { p50: percentile(replies, 0.5), p95: percentile(replies, 0.95) },
    mostAtOnce: mostAtOnce(answered),
    notOver: logged.filter(({ endedAt }) => endedAt === null).length,
    emulatorLateMs: Math.max(0, ...answered.map(({ maxFrameLatenessMs }) => maxFrameLatenessMs)),
  };
}

export function linesOf(name: string, one: Offering): string[] {
  const list = (counts: Map<string, number>): string =>
    counts.size === 0 ? 'none' : [...counts].map(([what, times]) => `${times} × ${what}`).join(', ');
  const ms = (value: number): string => (Number.isNaN(value) ? '-' : `${Math.round(value)} ms`);
  return [
    `${name}: ${one.offered} leads, ${one.accepted} accepted; refused: ${list(one.refused)}${one.withoutRetryAfter > 0 ? ` (${one.withoutRetryAfter} without Retry-After)` : ''}`,
    `  answered ${one.answered}, most at once ${one.mostAtOnce}; died after the answer: ${list(one.died)}; never heard a word: ${one.unheard}; not over: ${one.notOver}`,
    `  first word p50 ${ms(one.firstWordMs.p50)}, p95 ${ms(one.firstWordMs.p95)}, max ${ms(one.firstWordMs.max)}; a call's p95 of replies: median ${ms(one.replyP95Ms.p50)}, p95 ${ms(one.replyP95Ms.p95)}; emulator late by ${ms(one.emulatorLateMs)} at most`,
  ];
}

function mostAtOnce(calls: readonly SeenCall[]): number {
  const changes: [number, number][] = [];
  for (const { answeredAtEpochMs, hungUpAtEpochMs } of calls) {
    changes.push([answeredAtEpochMs!, 1], [hungUpAtEpochMs ?? Number.POSITIVE_INFINITY, -1]);
  }
  changes.sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  let now = 0;
  let most = 0;
  for (const [, by] of changes) {
    now += by;
    most = Math.max(most, now);
  }
  return most;
}

function count(counts: Map<string, number>, what: string): void {
  counts.set(what, (counts.get(what) ?? 0) + 1);
}
