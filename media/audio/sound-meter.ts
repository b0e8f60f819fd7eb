/**
 * How loud each channel of a recording is, every 5 ms, and from that where there is sound: the measurement behind the
 * waveform's own latencies (docs/decisions/waveform-latency.md). The recorder feeds it while it encodes, in pieces of
 * any length, and asks it once. It costs two multiplications a sample; `soundMapOf` is pure and
 * walks frames, not samples.
 */
import type { SoundMap, SoundRun } from '../contract/conversation.ts';

/** Resolution of every time that comes out of here. */
export const METER_FRAME_MS = 5;
/** Below the quietest step of mu-law: a channel that is fed nothing. */
const NOTHING_DBFS = -100;
/** A first-order high pass near 60 Hz: hum and direct current are no speech. */
const HIGH_PASS_HZ = 60;
const FIRST_ROOM_FRAMES = 12_000;

/** Mean square of each 5 ms by channel, 1 for full scale. */
export interface Loudness {
  left: Float32Array;
  right: Float32Array;
}

export class SoundMeter {
  readonly #frameSamples: number;
  readonly #keep: number;
  #left = new Float32Array(FIRST_ROOM_FRAMES);
  #right = new Float32Array(FIRST_ROOM_FRAMES);
  #frames = 0;
  #inFrame = 0;
  #leftSum = 0;
  #rightSum = 0;
  #leftIn = 0;
  #rightIn = 0;
  #leftOut = 0;
  #rightOut = 0;

  /** `rateHz`: 8,000 to 48,000, a multiple of 1,000. */
  constructor(rateHz: number) {
    this.#frameSamples = (rateHz * METER_FRAME_MS) / 1000;
    this.#keep = 1 - (2 * Math.PI * HIGH_PASS_HZ) / rateHz;
  }

  /** The first `instants` pairs of `interleavedSamples`: left the caller, right the agent. */
  push(interleavedSamples: Int16Array, instants: number): void {
    const keep = this.#keep;
    let [leftIn, rightIn, leftOut, rightOut] = [this.#leftIn, this.#rightIn, this.#leftOut, this.#rightOut];
    let [leftSum, rightSum, inFrame] = [this.#leftSum, this.#rightSum, this.#inFrame];
    for (let i = 0; i < instants * 2; i += 2) {
      const left = interleavedSamples[i]!;
      const right = interleavedSamples[i + 1]!;
      leftOut = left - leftIn + keep * leftOut;
      rightOut = right - rightIn + keep * rightOut;
      leftIn = left;
      rightIn = right;
      leftSum += leftOut * leftOut;
      rightSum += rightOut * rightOut;
      if (++inFrame < this.#frameSamples) continue;
      this.#endFrame(leftSum, rightSum);
      leftSum = 0;
      rightSum = 0;
      inFrame = 0;
    }
    [this.#leftIn, this.#rightIn, this.#leftOut, this.#rightOut] = [leftIn, rightIn, leftOut, rightOut];
    [this.#leftSum, this.#rightSum, this.#inFrame] = [leftSum, rightSum, inFrame];
  }

  /** All whole frames so far. */
  loudness(): Loudness {
    return { left: this.#left.subarray(0, this.#frames), right: this.#right.subarray(0, this.#frames) };
  }

  #endFrame(leftSum: number, rightSum: number): void {
    if (this.#frames === this.#left.length) {
      this.#left = grown(this.#left);
      this.#right = grown(this.#right);
    }
    const scale = 1 / (this.#frameSamples * 32_768 * 32_768);
    this.#left[this.#frames] = leftSum * scale;
    this.#right[this.#frames] = rightSum * scale;
    this.#frames++;
  }
}

function grown(array: Float32Array<ArrayBuffer>): Float32Array<ArrayBuffer> {
  const larger = new Float32Array(array.length * 2);
  larger.set(array);
  return larger;
}

/** The agent's channel holds what we made: its silence is silence, and what is above this can be heard. */
const AGENT_LEAST_DBFS = -60;
/** A bed of sounds under the agent's words is never louder; who talks without a pause has no floor at all. */
const AGENT_MOST_DBFS = -30;
const AGENT_FLOOR_RANK = 0.05;
/** The caller's: below this nothing counts, however quiet the line. */
const CALLER_LEAST_DBFS = -60;
/** How far above the floor of the line sound has to be; more where the floor itself goes up and down. */
const LEAST_MARGIN_DB = 4;
const MOST_MARGIN_DB = 10;
const MARGIN_SPREADS = 6;
/** Of the agent's voice so much may come back on the caller's channel, so late at most. */
const ECHO_DB = -24;
const ECHO_WITHIN_MS = 250;
/** Sound has ended where it falls so far below its loudest of late, and stays there. */
const END_BELOW_PEAK_DB = 28;
const PEAK_OF_LATE_MS = 1_500;
/** Shorter gaps are part of a word (the closure before a `t`). */
const BRIDGED_MS = 80;
const SHORTEST_MS = 25;
/** What a four-hour call could have at most is cut here: it travels in a message. */
const MOST_RUNS = 5_000;

/** Where each channel has sound. Times are ms of the recording, to 5 ms. */
export function soundMapOf({ left, right }: Loudness): SoundMap {
  const agentDb = decibels(right);
  const callerDb = decibels(smoothed(left));
  const agentLimits = new Float32Array(agentDb.length).fill(agentLimitOf(agentDb));
  const callerFloor = floorsOf(callerDb, left);
  const callerLimits = withEcho(
    callerFloor.limits.map((limit) => Math.max(limit, CALLER_LEAST_DBFS)),
    agentDb,
  );
  return {
    durationMs: left.length * METER_FRAME_MS,
    callerFloorDbfs: callerFloor.typicalDbfs,
    // What 15 ms are averaged over seems to end a frame later than it does.
    caller: runsOf(callerDb, callerLimits, { belowPeakDb: END_BELOW_PEAK_DB, lateFrames: 1 }),
    agent: runsOf(agentDb, agentLimits, { belowPeakDb: Number.POSITIVE_INFINITY, lateFrames: 0 }),
  };
}

/** A stretch of so many frames is 10 minutes: some 40 ms of work, after which others may run. */
const STRETCH_FRAMES = 120_000;

/** The same, with `pause` between stretches of 10 minutes, for calls that last for hours. */
export async function soundMapInSteps({ left, right }: Loudness, pause: () => Promise<void>): Promise<SoundMap> {
  const whole: SoundMap = {
    durationMs: left.length * METER_FRAME_MS,
    callerFloorDbfs: NOTHING_DBFS,
    caller: [],
    agent: [],
  };
  const floors: number[] = [];
  for (let from = 0; from === 0 || from < left.length; from += STRETCH_FRAMES) {
    const to = Math.min(from + STRETCH_FRAMES, left.length);
    const map = soundMapOf({ left: left.subarray(from, to), right: right.subarray(from, to) });
    append(whole.caller, map.caller, from * METER_FRAME_MS);
    append(whole.agent, map.agent, from * METER_FRAME_MS);
    floors.push(map.callerFloorDbfs);
    await pause();
  }
  whole.callerFloorDbfs = floors.sort((a, b) => a - b)[Math.floor(floors.length / 2)]!;
  return whole;
}

/** Sound that goes on over the seam is one run. */
function append(runs: SoundRun[], more: readonly SoundRun[], seamMs: number): void {
  for (const run of more) {
    if (runs.length >= MOST_RUNS) return;
    const moved = { ...run, startMs: run.startMs + seamMs, endMs: run.endMs + seamMs };
    const last = runs.at(-1);
    if (last !== undefined && run.startMs === 0 && seamMs - last.endMs <= METER_FRAME_MS) {
      last.endMs = moved.endMs;
      last.peakDbfs = Math.max(last.peakDbfs, moved.peakDbfs);
    } else runs.push(moved);
  }
}

function decibels(power: Float32Array): Float32Array {
  const db = new Float32Array(power.length);
  for (let i = 0; i < power.length; i++) {
    db[i] = power[i]! <= 1e-10 ? NOTHING_DBFS : 10 * Math.log10(power[i]!);
  }
  return db;
}

/** Over 15 ms: 5 ms of noise alone go up and down by 2 dB. */
function smoothed(power: Float32Array): Float32Array {
  const mean = new Float32Array(power.length);
  for (let i = 0; i < power.length; i++) {
    mean[i] = ((power[i - 1] ?? power[i]!) + power[i]! + (power[i + 1] ?? power[i]!)) / 3;
  }
  return mean;
}

/** One for the whole call: what is under the agent's words, should something be, is there all the time. */
function agentLimitOf(db: Float32Array): number {
  const counts = new Uint32Array(BINS);
  for (let i = 0; i < db.length; i++) counts[binOf(db[i]!)]!++;
  const floor = levelAtRank(counts, db.length * AGENT_FLOOR_RANK);
  return Math.max(AGENT_LEAST_DBFS, Math.min(floor + MOST_MARGIN_DB, AGENT_MOST_DBFS));
}

const BLOCK_FRAMES = 200;
const WINDOW_BLOCKS = 4;
const LOWEST_BIN_DB = -100;
const BINS_PER_DB = 2;
const BINS = 100 * BINS_PER_DB;
const FLOOR_RANK = 0.15;
const SPREAD_RANK = 0.35;
/** Of so few frames with any sound no floor can be told. */
const LEAST_FRAMES = 60;

/** The least level that counts as sound, a value a frame: above the quiet parts of the 9 s around it. */
function floorsOf(db: Float32Array, power: Float32Array): { limits: Float32Array; typicalDbfs: number } {
  const blocks = Math.max(1, Math.ceil(db.length / BLOCK_FRAMES));
  const counts = new Uint32Array(blocks * BINS);
  for (let i = 0; i < db.length; i++) {
    // A gap that was filled with digital silence says nothing of the line.
    if (power[i] === 0) continue;
    counts[Math.floor(i / BLOCK_FRAMES) * BINS + binOf(db[i]!)]!++;
  }
  const limits = new Float32Array(db.length);
  const sum = new Uint32Array(BINS);
  const floors: number[] = [];
  for (let block = 0; block < blocks; block++) {
    sum.fill(0);
    let frames = 0;
    for (let near = Math.max(0, block - WINDOW_BLOCKS); near <= Math.min(blocks - 1, block + WINDOW_BLOCKS); near++) {
      for (let bin = 0; bin < BINS; bin++) {
        const count = counts[near * BINS + bin]!;
        sum[bin]! += count;
        frames += count;
      }
    }
    const floor = frames < LEAST_FRAMES ? NOTHING_DBFS : levelAtRank(sum, frames * FLOOR_RANK);
    const spread = frames < LEAST_FRAMES ? 0 : levelAtRank(sum, frames * SPREAD_RANK) - floor;
    floors.push(floor);
    const margin = Math.min(MOST_MARGIN_DB, Math.max(LEAST_MARGIN_DB, MARGIN_SPREADS * spread));
    limits.fill(floor + margin, block * BLOCK_FRAMES, (block + 1) * BLOCK_FRAMES);
  }
  const typical = floors.sort((a, b) => a - b)[Math.floor(floors.length / 2)] ?? NOTHING_DBFS;
  return { limits, typicalDbfs: Math.round(typical) };
}

function binOf(db: number): number {
  return Math.min(BINS - 1, Math.max(0, Math.floor((db - LOWEST_BIN_DB) * BINS_PER_DB)));
}

function levelAtRank(sum: Uint32Array, rank: number): number {
  let seen = 0;
  for (let bin = 0; bin < BINS; bin++) {
    const count = sum[bin]!;
    if (count > 0 && seen + count >= rank) return LOWEST_BIN_DB + (bin + (rank - seen) / count) / BINS_PER_DB;
    seen += count;
  }
  return NOTHING_DBFS;
}

/** While the agent speaks, and as long as it may come back, only what is louder than its echo is the caller. */
function withEcho(limits: Float32Array, agentDb: Float32Array): Float32Array {
  const frames = ECHO_WITHIN_MS / METER_FRAME_MS;
  let loudest = NOTHING_DBFS;
  let loudestAt = -1;
  for (let i = 0; i < limits.length; i++) {
    // One frame ahead: the two channels are not aligned to the frame.
    const next = agentDb[i + 1] ?? NOTHING_DBFS;
    if (next >= loudest) {
      loudest = next;
      loudestAt = i + 1;
    } else if (loudestAt < i - frames) {
      loudest = NOTHING_DBFS;
      for (let past = i - frames; past <= i + 1; past++) {
        const level = agentDb[past] ?? NOTHING_DBFS;
        if (level >= loudest) {
          loudest = level;
          loudestAt = past;
        }
      }
    }
    limits[i] = Math.max(limits[i]!, loudest + ECHO_DB);
  }
  return limits;
}

interface RunEnd {
  belowPeakDb: number;
  lateFrames: number;
}

function runsOf(db: Float32Array, limits: Float32Array, runEnd: RunEnd): SoundRun[] {
  const runs: SoundRun[] = [];
  const bridged = BRIDGED_MS / METER_FRAME_MS;
  for (let start = 0; start < db.length && runs.length < MOST_RUNS; ) {
    if (db[start]! <= limits[start]!) {
      start++;
      continue;
    }
    let last = start;
    for (let i = start + 1; i < db.length && i - last <= bridged; i++) if (db[i]! > limits[i]!) last = i;
    pushRun(runs, db, limits, start, last, runEnd);
    start = last + 1;
  }
  return runs;
}

/**
 * Frames `first` to `last`, cut where they fall far below the loudest of the last 1.5 s: a breath, the ring of a room.
 */
function pushRun(
  runs: SoundRun[],
  db: Float32Array,
  limits: Float32Array,
  first: number,
  last: number,
  { belowPeakDb, lateFrames }: RunEnd,
): void {
  let ofLate = NOTHING_DBFS;
  for (let i = Math.max(0, last - PEAK_OF_LATE_MS / METER_FRAME_MS); i <= last; i++) ofLate = Math.max(ofLate, db[i]!);
  let end = last;
  while (end > first && (db[end]! <= limits[end]! || db[end]! < ofLate - belowPeakDb)) end--;
  if ((end - first + 1) * METER_FRAME_MS < SHORTEST_MS) return;
  let peak = NOTHING_DBFS;
  for (let i = first; i <= end; i++) peak = Math.max(peak, db[i]!);
  runs.push({
    startMs: first * METER_FRAME_MS,
    endMs: (end + 1 - lateFrames) * METER_FRAME_MS,
    peakDbfs: Math.round(peak),
  });
}
