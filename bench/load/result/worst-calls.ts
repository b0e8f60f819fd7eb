/**
 * The calls that one wants to look at and listen to, kept while the run goes on; how many calls there are does not
 * matter. Each reason below keeps its own few worst, and a call that has several reasons is kept once. What a reason is
 * and how it ranks stands in `REASONS`, the gravest first; the report shows them in that order. Used by the gatherer.
 */
import type { MeasuredCall } from '../contract/measured-call.ts';

export type KeptCall = Omit<MeasuredCall, 'sound'> & {
  gaps: { atMs: number; gapMs: number }[];
  audioShare: number | null;
};

interface Reason {
  most: number;
  /** The greater the worse; 0: it has no such thing. */
  badness: (call: KeptCall) => number;
  /** Of calls that are as bad only one is kept for each of these. */
  alike?: (call: KeptCall) => string;
  /** Where to listen; an instant of the run. */
  atMs: (call: KeptCall) => number;
}

const longest = <Item>(items: readonly Item[], of: (item: Item) => number): Item | undefined =>
  items.reduce<Item | undefined>((best, item) => (best === undefined || of(item) > of(best) ? item : best), undefined);

const beginOf = (call: KeptCall): number => call.answeredAtMs ?? call.begunAtMs;
const endOf = (call: KeptCall): number => call.endedAtMs ?? beginOf(call);
const longestGap = (call: KeptCall) => longest(call.gaps, ({ gapMs }) => gapMs);
export const longestReply = (call: Pick<MeasuredCall, 'replies'>) => longest(call.replies, ({ replyMs }) => replyMs);
const unstopped = (call: KeptCall) => call.bargeIns.filter(({ stoppedAfterMs }) => stoppedAfterMs === null);
const notResumed = (call: KeptCall) => call.resumes.filter(({ resumedAfterMs }) => resumedAfterMs === null);

/** Less audio than the time asks for, by more than the clocks of two machines differ. */
const FULL_SHARE = 0.995;

const REASONS: readonly Reason[] = [
  { most: 3, badness: (call) => (call.fate === 'lost' ? 1 + endOf(call) - beginOf(call) : 0), atMs: endOf },
  {
    most: 4,
    badness: ({ fate }) => (fate === 'failed' || fate === 'refused' ? 1 : 0),
    alike: ({ fate, code }) => `${fate} ${code}`,
    atMs: endOf,
  },
  {
    most: 2,
    badness: (call) => notResumed(call).length,
    atMs: (call) => notResumed(call)[0]?.atMs ?? beginOf(call),
  },
  { most: 3, badness: (call) => unstopped(call).length, atMs: (call) => unstopped(call)[0]?.atMs ?? beginOf(call) },
  { most: 3, badness: (call) => longestGap(call)?.gapMs ?? 0, atMs: (call) => longestGap(call)?.atMs ?? beginOf(call) },
  { most: 1, badness: ({ audioShare }) => ((audioShare ?? 1) < FULL_SHARE ? 1 - audioShare! : 0), atMs: beginOf },
  { most: 2, badness: (call) => call.unanswered, atMs: endOf },
  {
    most: 3,
    badness: (call) => longestReply(call)?.replyMs ?? 0,
    atMs: (call) => longestReply(call)?.atMs ?? beginOf(call),
  },
  { most: 1, badness: (call) => call.firstWordMs ?? 0, atMs: beginOf },
];

export interface WorstCalls {
  add(call: MeasuredCall): void;
  /** The gravest first, no more than `most`; with where to listen. */
  list(most: number): { call: KeptCall; listenAtMs: number }[];
}

/** `onForgotten` is told the recording of each call that is none of the worst, or no longer: it may be deleted. */
export function createWorstCalls(onForgotten: (recordingPath: string) => void = () => {}): WorstCalls {
  const kept = REASONS.map((): KeptCall[] => []);

  function add(measured: MeasuredCall): void {
    const call = keptOf(measured);
    const pushedOut = kept.map((list, at) => insert(list, REASONS[at]!, call));
    for (const one of new Set([call, ...pushedOut])) {
      if (one?.recordingPath == null || kept.some((list) => list.includes(one))) continue;
      onForgotten(one.recordingPath);
    }
  }

  function list(most: number): { call: KeptCall; listenAtMs: number }[] {
    const seen = new Map<KeptCall, number>();
    for (const [at, calls] of kept.entries())
      for (const call of calls) if (!seen.has(call)) seen.set(call, REASONS[at]!.atMs(call));
    return [...seen].slice(0, most).map(([call, listenAtMs]) => ({ call, listenAtMs }));
  }

  return { add, list };
}

/** The histogram of its frames, which is the greatest part of a call, is not kept. */
function keptOf({ sound, ...call }: MeasuredCall): KeptCall {
  const audioShare = sound === null || sound.streamedMs < 1_000 ? null : sound.audioMs / sound.streamedMs;
  return { ...call, gaps: sound?.gaps ?? [], audioShare };
}

/** Where it belongs, among those that are worse; gives the call that has no place any more. */
function insert(list: KeptCall[], reason: Reason, call: KeptCall): KeptCall | undefined {
  const badness = reason.badness(call);
  if (badness <= 0) return undefined;
  if (reason.alike !== undefined && list.some((one) => reason.alike?.(one) === reason.alike?.(call))) return undefined;
  const at = list.findIndex((one) => reason.badness(one) < badness);
  list.splice(at < 0 ? list.length : at, 0, call);
  return list.length > reason.most ? list.pop() : undefined;
}
