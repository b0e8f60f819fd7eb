/**
 * The load: a process of its own that dials N media streams and speaks on each as a carrier would, open loop (it sends on its
 * own absolute schedule, whatever comes back). It measures its own lateness too, so that ours is not blamed for its.
 * Told what to do by IPC (`GeneratorOrder`), answers with `GeneratorReport`, exits when disconnected.
 */
import { MediaSocketClient } from './media-socket-client.ts';

export interface GeneratorOrder {
  /** `ws://host:port/media/plivo/`; the call's id is appended. */
  urlPrefix: string;
  calls: number;
  warmUpMs: number;
  measureMs: number;
}

export interface GeneratorReport {
  type: 'report';
  connected: number;
  closedEarly: number;
  /** Our own sends behind schedule, ms. */
  sendLateness: Spread;
  /** Messages from the gateway behind the call's own best second, ms: jitter and stalls, without drift. */
  arrivalLateness: Spread;
  /** Samples received by each call in the measured time, as a share of real time: 1 is exact. */
  sampleRatio: { min: number; mean: number; max: number };
  messagesPerCallSecond: number;
}

export interface Spread {
  p50Ms: number;
  p99Ms: number;
  maxMs: number;
}

const TICK_MS = 2;
const FRAME_MS = 20;
const SAMPLES_PER_MS = 8;
const DIAL_BATCH = 20;
const WINDOW_MS = 1_000;
/** A frame of a mu-law 400 Hz tone, in base64; what it holds does not matter to a gateway that listens to nothing. */
const PAYLOAD = Buffer.from(Array.from({ length: 160 }, (_, i) => (i % 20 < 10 ? 0x8f : 0x0f))).toString('base64');
const PAYLOAD_KEY = Buffer.from('"payload":"');

class CallTally {
  samples = 0;
  messages = 0;
  /** Arrival minus the time that the samples before it last, ms, for each message of the measured time. */
  readonly offsets: number[] = [];
  readonly arrivals: number[] = [];
  measuring = false;

  receive(message: Buffer, arrivedAtMs: number): void {
    const key = message.indexOf(PAYLOAD_KEY);
    if (key < 0) return;
    const start = key + PAYLOAD_KEY.length;
    const end = message.indexOf(0x22, start);
    const padding = message[end - 2] === 0x3d ? 2 : message[end - 1] === 0x3d ? 1 : 0;
    if (this.measuring) {
      this.offsets.push(arrivedAtMs - this.samples / SAMPLES_PER_MS);
      this.arrivals.push(arrivedAtMs);
      this.messages++;
      this.samples += ((end - start) * 3) / 4 - padding;
    }
  }

  /** Lateness of each message against the earliest of its second. */
  lateness(into: number[]): void {
    for (let i = 0; i < this.offsets.length; ) {
      const windowEndsAt = this.arrivals[i]! + WINDOW_MS;
      let best = Number.POSITIVE_INFINITY;
      let j = i;
      for (; j < this.offsets.length && this.arrivals[j]! < windowEndsAt; j++) best = Math.min(best, this.offsets[j]!);
      for (let k = i; k < j; k++) into.push(this.offsets[k]! - best);
      i = j;
    }
  }
}

export function spreadOf(values: number[]): Spread {
  const sorted = Float64Array.from(values).sort();
  const at = (share: number): number => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
  return { p50Ms: at(0.5), p99Ms: at(0.99), maxMs: at(1) };
}

async function run(order: GeneratorOrder): Promise<GeneratorReport> {
  const tallies: CallTally[] = [];
  const clients: MediaSocketClient[] = [];
  let closedEarly = 0;
  let ending = false;
  for (let i = 0; i < order.calls; i += DIAL_BATCH) {
    const batch: Promise<void>[] = [];
    for (let j = i; j < Math.min(i + DIAL_BATCH, order.calls); j++) {
      const tally = new CallTally();
      const callId = `load-${String(process.pid).padStart(8, '0')}-${String(j).padStart(6, '0')}`;
      const client = new MediaSocketClient(`${order.urlPrefix}${callId}`, callId, PAYLOAD, {
        onMessage: (message, atMs) => tally.receive(message, atMs),
        onClose: () => {
          if (!ending) closedEarly++;
        },
      });
      tallies.push(tally);
      clients.push(client);
      batch.push(client.opened().then(() => client.start()));
    }
    await Promise.all(batch);
  }

  const sendLateness: number[] = [];
  const beganAtMs = performance.now();
  const endsAtMs = beganAtMs + order.warmUpMs + order.measureMs;
  const sent = new Int32Array(order.calls);
  let measuring = false;
  await new Promise<void>((done) => {
    const tick = (): void => {
      const nowMs = performance.now();
      if (!measuring && nowMs - beganAtMs >= order.warmUpMs) {
        measuring = true;
        for (const tally of tallies) tally.measuring = true;
      }
      for (let i = 0; i < order.calls; i++) {
        const phaseMs = (i * FRAME_MS) / order.calls;
        for (;;) {
          const dueAtMs = beganAtMs + phaseMs + sent[i]! * FRAME_MS;
          if (dueAtMs > nowMs) break;
          clients[i]!.sendFrame(sent[i]! * FRAME_MS);
          sent[i]!++;
          if (measuring) sendLateness.push(nowMs - dueAtMs);
        }
      }
      if (nowMs >= endsAtMs) done();
      else setTimeout(tick, TICK_MS - ((performance.now() - beganAtMs) % TICK_MS));
    };
    tick();
  });
  const measuredMs = performance.now() - beganAtMs - order.warmUpMs;
  for (const tally of tallies) tally.measuring = false;
  ending = true;
  for (const client of clients) client.close();

  const arrival: number[] = [];
  for (const tally of tallies) tally.lateness(arrival);
  const ratios = tallies.map((tally) => tally.samples / SAMPLES_PER_MS / measuredMs);
  return {
    type: 'report',
    connected: clients.length,
    closedEarly,
    sendLateness: spreadOf(sendLateness),
    arrivalLateness: spreadOf(arrival),
    sampleRatio: {
      min: ratios.reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY),
      mean: ratios.reduce((a, b) => a + b, 0) / ratios.length,
      max: ratios.reduce((a, b) => Math.max(a, b), 0),
    },
    messagesPerCallSecond: tallies.reduce((sum, tally) => sum + tally.messages, 0) / order.calls / (measuredMs / 1000),
  };
}

process.on('message', (order: GeneratorOrder) => {
  run(order).then(
    (report) => process.send?.(report),
    (error: unknown) => process.send?.({ type: 'failed', why: error instanceof Error ? error.message : String(error) }),
  );
});
process.on('disconnect', () => process.exit(0));
process.send?.({ type: 'ready' });
