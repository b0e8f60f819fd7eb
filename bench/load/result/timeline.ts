/**
 * The run second by second. Calls come when they are over, and count in the seconds in which things happened to them;
 * what processes and far ends tell of a second comes by `tick`. Of a second no more than some hundred delays are kept
 * (a fair sample of them, always the same for the same calls), so an hour of many calls stays small.
 */
import { percentile } from '../../harness/percentile.ts';
import { createRandom } from '../../harness/seeded-random.ts';
import type { MeasuredCall } from '../contract/measured-call.ts';
import type { TimelineSecond } from '../contract/run-result.ts';

/** What is known of a second from elsewhere than from calls. */
export interface SecondFigures {
  /** Anywhere in the second; of the run's beginning. */
  atMs: number;
  /** By process, as in `usage.processes`. */
  cpuCores: Record<string, number>;
  eventLoopDelayP99Ms: number | null;
  /** Of the frames that all far ends heard in that second. */
  frameLateP99Ms?: number | null;
}

export interface Timeline {
  add(call: MeasuredCall): void;
  tick(figures: SecondFigures): void;
  seconds(): TimelineSecond[];
  mostAtOnce(): number;
}

const MOST_SAMPLES = 300;
const SECOND_MS = 1_000;

interface Sample {
  seen: number;
  values: number[];
}

interface Second {
  begun: number;
  refused: number;
  failed: number;
  gaps: number;
  replies: Sample;
  firstWords: Sample;
  figures: SecondFigures | null;
}

export function createTimeline(): Timeline {
  const seconds: Second[] = [];
  const answered: number[] = [];
  const ended: number[] = [];
  const random = createRandom(1);

  function at(ms: number): Second {
    const index = Math.max(0, Math.floor(ms / SECOND_MS));
    for (let i = seconds.length; i <= index; i++) seconds.push(emptySecond());
    return seconds[index]!;
  }

  function keep(sample: Sample, value: number): void {
    sample.seen++;
    if (sample.values.length < MOST_SAMPLES) sample.values.push(value);
    else {
      const place = Math.floor(random() * sample.seen);
      if (place < MOST_SAMPLES) sample.values[place] = value;
    }
  }

  function add(call: MeasuredCall): void {
    if (call.fate !== 'held_back') at(call.begunAtMs).begun++;
    const overAtMs = call.endedAtMs ?? call.begunAtMs;
    if (call.fate === 'refused') at(overAtMs).refused++;
    if (call.fate === 'failed' || call.fate === 'lost') at(overAtMs).failed++;
    for (const { atMs, replyMs } of call.replies) keep(at(atMs).replies, replyMs);
    for (const { atMs } of call.sound?.gaps ?? []) at(atMs).gaps++;
    if (call.answeredAtMs === null) return;
    if (call.firstWordMs !== null) keep(at(call.answeredAtMs).firstWords, call.firstWordMs);
    answered.push(call.answeredAtMs);
    ended.push(Math.max(call.answeredAtMs, call.endedAtMs ?? call.answeredAtMs));
    at(ended.at(-1)!);
  }

  function secondsOf(): TimelineSecond[] {
    const live = liveBySecond(answered, ended, seconds.length);
    return seconds.map(({ begun, refused, failed, gaps, replies, firstWords, figures }, index) => ({
      atMs: index * SECOND_MS,
      begun,
      live: live[index]!,
      refused,
      failed,
      replyP95Ms: p95(replies),
      firstWordP95Ms: p95(firstWords),
      frameLateP99Ms: figures?.frameLateP99Ms ?? null,
      gaps,
      cpuCores: figures?.cpuCores ?? {},
      eventLoopDelayP99Ms: figures?.eventLoopDelayP99Ms ?? null,
    }));
  }

  return {
    add,
    tick: (figures) => {
      at(figures.atMs).figures = figures;
    },
    seconds: secondsOf,
    mostAtOnce: () => Math.max(0, ...boundedSlices(liveBySecond(answered, ended, seconds.length))),
  };
}

function emptySecond(): Second {
  const sample = (): Sample => ({ seen: 0, values: [] });
  return { begun: 0, refused: 0, failed: 0, gaps: 0, replies: sample(), firstWords: sample(), figures: null };
}

const p95 = ({ values }: Sample): number | null => (values.length === 0 ? null : percentile(values, 0.95));

/** The most calls at once in each second. A call that ends at the instant at which another begins makes room for it. */
function liveBySecond(answered: readonly number[], ended: readonly number[], seconds: number): number[] {
  const starts = Float64Array.from(answered).sort();
  const ends = Float64Array.from(ended).sort();
  const live: number[] = [];
  let [from, to] = [0, 0];
  for (let second = 0; second < seconds; second++) {
    const endMs = (second + 1) * SECOND_MS;
    let most = from - to;
    while ((starts[from] ?? Number.POSITIVE_INFINITY) < endMs) {
      while (ends[to]! <= starts[from]! && to < from) to++;
      from++;
      most = Math.max(most, from - to);
    }
    while ((ends[to] ?? Number.POSITIVE_INFINITY) < endMs && to < from) to++;
    live.push(most);
  }
  return live;
}

/** A function takes only so many arguments: the greatest of each thousand. */
function boundedSlices(values: readonly number[]): number[] {
  const greatest: number[] = [];
  for (let i = 0; i < values.length; i += 1_000) greatest.push(Math.max(...values.slice(i, i + 1_000)));
  return greatest;
}
