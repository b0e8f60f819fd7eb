/**
 * The load: a process of its own that dials N media streams, one by one at seeded random times as calls come, and
 * speaks on each as a carrier would, open loop (it sends on its own absolute schedule, whatever comes back). It
 * measures its own lateness and CPU too, so that ours is not blamed for its. Told what to do by IPC (`GeneratorOrder`),
 * says `FromGenerator`, exits when disconnected.
 */
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { createSecureContext, type SecureContext } from 'node:tls';
import { createRandom } from '../harness/seeded-random.ts';
import { MediaSocketClient } from './media-socket-client.ts';
import { CallTally, inTimeRatioOf, type Spread, spreadOf } from './tally.ts';

export interface GeneratorOrder {
  /** `ws://host:port/media/plivo/`; the call's id is appended. */
  urlPrefix: string;
  /** `wss://`: the certificate to trust. */
  caFile: string | null;
  calls: number;
  /** After the last call has begun. */
  warmUpMs: number;
  measureMs: number;
  /** Of the times at which calls begin. */
  seed: number;
}

export type FromGenerator =
  | { type: 'ready' }
  /** The measured time begins, ends. */
  | { type: 'began' }
  | { type: 'ended' }
  | { type: 'report'; report: GeneratorReport }
  | { type: 'failed'; why: string };

export interface GeneratorReport {
  connected: number;
  closedEarly: number;
  /** Our own sends behind schedule, ms. */
  sendLateness: Spread;
  /** Our own share of one processor, 0–1. Near 1 the generator, not the gateway, is the limit. */
  cpuRatio: number;
  /** Messages from the gateway behind the call's own best of the second, ms: jitter and stalls, without drift. */
  arrivalLateness: Spread;
  /** Audio that came no later than `IN_TIME_MS` against the call's own best of the second, as a share of real time. */
  inTimeRatio: number;
  /** Samples received by each call in the measured time, as a share of real time: 1 is exact. */
  sampleRatio: { min: number; mean: number; max: number };
  /** The call that was farthest from real time, as a share: 0.001 is 0.1 %. */
  worstDeviationRatio: number;
  messagesPerCallSecond: number;
}

const TICK_MS = 2;
const FRAME_MS = 20;
/** Calls begin like this many a second, at random. */
const DIALS_PER_SECOND = 250;
const OPEN_LIMIT_MS = 10_000;
/** A frame of a mu-law 400 Hz tone, in base64; what it holds does not matter to a gateway that listens to nothing. */
const PAYLOAD = Buffer.from(Array.from({ length: 160 }, (_, i) => (i % 20 < 10 ? 0x8f : 0x0f))).toString('base64');

class Load {
  readonly #order: GeneratorOrder;
  readonly #clients: MediaSocketClient[] = [];
  readonly #tallies: CallTally[] = [];
  /** When each call's first frame is due; NaN until its socket is open. */
  readonly #beganAtMs: Float64Array;
  readonly #sent: Int32Array;
  readonly #sendLateness: number[] = [];
  readonly #tls: SecureContext | null;
  #open = 0;
  #closedEarly = 0;
  #firstFault = '';
  #isMeasuring = false;
  #isEnding = false;

  constructor(order: GeneratorOrder) {
    this.#order = order;
    this.#tls = order.caFile === null ? null : createSecureContext({ ca: readFileSync(order.caFile) });
    this.#beganAtMs = new Float64Array(order.calls).fill(Number.NaN);
    this.#sent = new Int32Array(order.calls);
  }

  async run(say: (message: FromGenerator) => void): Promise<GeneratorReport> {
    const { calls, warmUpMs, measureMs } = this.#order;
    const speaking = this.#speak();
    await this.#dialAll();
    await sleep(warmUpMs);
    const cpuBefore = process.cpuUsage();
    const beganAtMs = performance.now();
    this.#isMeasuring = true;
    for (const tally of this.#tallies) tally.isMeasuring = true;
    say({ type: 'began' });
    await sleep(measureMs);
    say({ type: 'ended' });
    for (const tally of this.#tallies) tally.isMeasuring = false;
    this.#isMeasuring = false;
    const measuredMs = performance.now() - beganAtMs;
    const cpu = process.cpuUsage(cpuBefore);
    // The other side still reads its own figures.
    await sleep(300);
    this.#isEnding = true;
    await speaking;
    for (const client of this.#clients) client.close();

    const arrival: number[] = [];
    for (const tally of this.#tallies) tally.lateness(arrival);
    const ratios = this.#tallies.map((tally) => tally.sampleRatio);
    const meanRatio = ratios.reduce((a, b) => a + b, 0) / ratios.length;
    return {
      connected: this.#open,
      closedEarly: this.#closedEarly,
      sendLateness: spreadOf(this.#sendLateness),
      cpuRatio: (cpu.user + cpu.system) / 1000 / measuredMs,
      arrivalLateness: spreadOf(arrival),
      inTimeRatio: inTimeRatioOf(meanRatio, arrival),
      sampleRatio: {
        min: ratios.reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY),
        mean: meanRatio,
        max: ratios.reduce((a, b) => Math.max(a, b), 0),
      },
      worstDeviationRatio: ratios.reduce((worst, ratio) => Math.max(worst, Math.abs(ratio - 1)), 0),
      messagesPerCallSecond:
        this.#tallies.reduce((sum, tally) => sum + tally.messages, 0) / calls / (measuredMs / 1000),
    };
  }

  async #dialAll(): Promise<void> {
    const { calls, seed } = this.#order;
    const random = createRandom(seed);
    let dueAtMs = performance.now();
    for (let i = 0; i < calls; i++) {
      dueAtMs += (-Math.log(1 - random()) * 1000) / DIALS_PER_SECOND;
      const waitMs = dueAtMs - performance.now();
      if (waitMs >= 1) await sleep(waitMs);
      this.#dial(i);
    }
    const untilMs = performance.now() + OPEN_LIMIT_MS;
    while (this.#open < calls) {
      if (this.#firstFault !== '') throw new Error(`a call did not connect: ${this.#firstFault}`);
      if (performance.now() > untilMs)
        throw new Error(`${calls - this.#open} calls were not open in ${OPEN_LIMIT_MS} ms`);
      await sleep(10);
    }
  }

  #dial(index: number): void {
    const { urlPrefix, measureMs } = this.#order;
    const tally = new CallTally(measureMs);
    const callId = `load-${String(process.pid).padStart(8, '0')}-${String(index).padStart(6, '0')}`;
    const client: MediaSocketClient = new MediaSocketClient(
      `${urlPrefix}${callId}`,
      callId,
      PAYLOAD,
      {
        onOpen: () => {
          this.#open++;
          client.start();
          this.#beganAtMs[index] = performance.now() + FRAME_MS;
        },
        onMessage: (bytes, start, end, atMs) => tally.receive(bytes, start, end, atMs),
        onClose: (why) => {
          if (this.#isEnding) return;
          this.#closedEarly++;
          if (this.#firstFault === '') this.#firstFault = why === '' ? 'closed' : why;
        },
      },
      this.#tls,
    );
    this.#tallies.push(tally);
    this.#clients.push(client);
  }

  /** Sends what is due, for ever, on each call's own absolute schedule. */
  #speak(): Promise<void> {
    const zeroMs = performance.now();
    return new Promise((done) => {
      const tick = (): void => {
        const nowMs = performance.now();
        for (let i = 0; i < this.#clients.length; i++) {
          for (;;) {
            const dueAtMs = this.#beganAtMs[i]! + this.#sent[i]! * FRAME_MS;
            // Also false for NaN: not open yet.
            if (!(dueAtMs <= nowMs)) break;
            this.#clients[i]!.sendFrame(this.#sent[i]! * FRAME_MS);
            this.#sent[i]!++;
            if (this.#isMeasuring) this.#sendLateness.push(nowMs - dueAtMs);
          }
        }
        if (this.#isEnding) done();
        else setTimeout(tick, TICK_MS - ((performance.now() - zeroMs) % TICK_MS));
      };
      tick();
    });
  }
}

const say = (message: FromGenerator): void => void process.send?.(message);

process.on('message', (order: GeneratorOrder) => {
  new Load(order).run(say).then(
    (report) => say({ type: 'report', report }),
    (error: unknown) => say({ type: 'failed', why: error instanceof Error ? error.message : String(error) }),
  );
});
process.on('disconnect', () => process.exit(0));
say({ type: 'ready' });
