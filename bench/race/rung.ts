/**
 * One rung of the ladder: a subject with so many conversations at once, for some seconds. Everything is started for it
 * and ended after it. What the subject is not to blame for makes it void.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { cpuBetween } from '../calls/thread-cpu.ts';
import { readMachineTime } from '../harness/machine-time.ts';
import { percentiles } from '../harness/percentile.ts';
import type { Heard } from './caller/caller.ts';
import { startCallers } from './callers-process.ts';
import { SUBJECTS_CORE } from './cores.ts';
import { readTree } from './process-tree.ts';
import { type RaceProviders, startProviders } from './providers-process.ts';
import type { RunningSubject, SubjectKind } from './subject.ts';

export interface RungResult {
  subject: string;
  conversations: number;
  repetition: number;
  /** Of the subject with all its processes, for a second of a conversation. */
  cpuMs: number;
  /** Of it the busiest threads, most first. */
  threadsMs: number[];
  /** Share of its core, 0–1. */
  coreShare: number;
  /** Above the idle subject, for each conversation. */
  memoryBytes: number;
  idleBytes: number;
  processes: number;
  heard: Heard;
  closedEarly: number;
  /** Of the subject's core: whoever else was on it. */
  intrudersShare: number;
  /** Of the other core: callers, providers and the race itself together. */
  otherShare: number;
  sendLatenessP99Ms: number;
  providersLatenessP99Ms: number;
  voidBecause: string | null;
  /** Few conversations for long: `AT_REST`. */
  isAtRest: boolean;
}

/**
 * Of the run that says how soon a subject answers when it has little else to do: some fifty answers, so that its own
 * unevenness is among them.
 */
export const AT_REST = { conversations: 6, seconds: 60 } as const;

export interface RungOrder {
  kind: SubjectKind;
  conversations: number;
  repetition: number;
  isAtRest: boolean;
  warmUpMs: number;
  measureMs: number;
  /** Mu-law of 8 kHz, in base64. */
  lines: readonly string[];
  /** Done to the providers in the middle of the measured time. */
  trouble?: (providers: RaceProviders) => void;
}

const SEED = 2026;
const TOLD_THREADS = 8;
/** What a subject needs to become quiet before it is read idle. */
const SETTLE_MS = 1_000;
/** The kernel's work for its sockets is no intruder. */
const MOST_INTRUDERS_SHARE = 0.1;
/** Above these it is the other core that is measured. */
const MOST_OTHER_SHARE = 0.9;
const MOST_SEND_LATENESS_MS = 8;
const MOST_PROVIDERS_LATENESS_MS = 10;

export async function runRung(order: RungOrder): Promise<RungResult> {
  const providers = await startProviders();
  let subject: RunningSubject | null = null;
  try {
    subject = await order.kind.start(providers.port);
    return await measured(order, providers, subject);
  } finally {
    await subject?.stop();
    await providers.stop();
  }
}

async function measured(order: RungOrder, providers: RaceProviders, subject: RunningSubject): Promise<RungResult> {
  const { kind, conversations, repetition, isAtRest, warmUpMs, measureMs, lines } = order;
  await sleep(SETTLE_MS);
  const idle = readTree(subject.pid);
  const callers = startCallers({
    urlPrefix: subject.urlPrefix,
    calls: conversations,
    dialsPerSecond: kind.dialsPerSecond,
    warmUpMs,
    measureMs,
    seed: SEED + repetition,
    lines,
  });
  try {
    await callers.began;
    await providers.report();
    const before = readTree(subject.pid);
    const busyBeforeMs = readMachineTime(SUBJECTS_CORE).busyMs;
    const ownCpu = process.cpuUsage();
    const beganAtMs = performance.now();
    const trouble = order.trouble === undefined ? null : setTimeout(order.trouble, measureMs / 2, providers);
    await callers.ended;
    if (trouble !== null) clearTimeout(trouble);
    const seconds = (performance.now() - beganAtMs) / 1_000;
    const own = process.cpuUsage(ownCpu);
    const busyMs = readMachineTime(SUBJECTS_CORE).busyMs - busyBeforeMs;
    const after = readTree(subject.pid);
    const { cpuMs: providersMs, latenessP99Ms } = await providers.report();
    const { heard, cpuMs: callersMs, sendLateness, closedEarly } = await callers.report;
    const threads = cpuBetween(before.threads, after.threads);
    const cpuMs = threads.reduce((sum, thread) => sum + thread.cpuMs, 0);
    const result = {
      subject: kind.name,
      conversations,
      repetition,
      cpuMs: cpuMs / seconds / conversations,
      threadsMs: threads.slice(0, TOLD_THREADS).map((thread) => thread.cpuMs / seconds / conversations),
      coreShare: cpuMs / seconds / 1_000,
      memoryBytes: (after.memoryBytes - idle.memoryBytes) / conversations,
      idleBytes: idle.memoryBytes,
      processes: after.processes,
      heard,
      closedEarly,
      intrudersShare: Math.max(0, busyMs - cpuMs) / seconds / 1_000,
      otherShare: (callersMs + providersMs + (own.user + own.system) / 1_000) / seconds / 1_000,
      sendLatenessP99Ms: sendLateness.p99Ms,
      providersLatenessP99Ms: latenessP99Ms,
    };
    return { ...result, voidBecause: voidBecause(result), isAtRest };
  } finally {
    callers.stop();
  }
}

function voidBecause(result: Omit<RungResult, 'voidBecause' | 'isAtRest'>): string | null {
  const { intrudersShare, otherShare, sendLatenessP99Ms, providersLatenessP99Ms } = result;
  if (intrudersShare > MOST_INTRUDERS_SHARE)
    return `others took ${(intrudersShare * 100).toFixed(0)} % of the subject's core`;
  if (otherShare > MOST_OTHER_SHARE) return `the other core was ${(otherShare * 100).toFixed(0)} % busy`;
  if (sendLatenessP99Ms > MOST_SEND_LATENESS_MS) return `callers were ${sendLatenessP99Ms.toFixed(0)} ms late (p99)`;
  if (providersLatenessP99Ms > MOST_PROVIDERS_LATENESS_MS)
    return `providers were ${providersLatenessP99Ms.toFixed(0)} ms late (p99)`;
  return null;
}

export interface Limits {
  /** Above the slowest of the subject's own answers at rest. */
  replyP99Ms: number;
  /** Of what was heard, late. */
  lateShare: number;
}

export const LIMITS: Limits = { replyP99Ms: 50, lateShare: 0.001 };

/** Why it was not carried; null: it was. `atRestMs`: the slowest of the subject's answers at rest. */
export function breakage(result: RungResult, atRestMs: number): string | null {
  const { heard, closedEarly } = result;
  if (closedEarly > 0) return `${closedEarly} conversations broke off`;
  if (heard.repliesMs.length === 0) return 'nobody was answered';
  if (heard.unanswered > 0) return `${heard.unanswered} of ${heard.turns} lines had no answer`;
  const [p99Ms] = percentiles(heard.repliesMs, [0.99]);
  const aboveMs = p99Ms! - atRestMs;
  if (aboveMs > LIMITS.replyP99Ms) return `answers ${aboveMs.toFixed(0)} ms later (p99)`;
  const lateShare = heard.lateMs / Math.max(1, heard.playedMs);
  if (lateShare > LIMITS.lateShare) return `${(lateShare * 100).toFixed(2)} % of the sound late`;
  return null;
}
