/**
 * The callers of the race, a process of their own: dials, speaks on an absolute schedule whatever comes back, and tells
 * what all of them heard in the measured time. Told what to do by IPC (`CallerOrder`); exits when disconnected.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { MediaSocketClient } from '../../calls/media-socket-client.ts';
import { spreadOf } from '../../calls/tally.ts';
import { createRandom } from '../../harness/seeded-random.ts';
import { Caller, type Heard } from './caller.ts';
import { lineNoise, lineOf } from './line.ts';
import type { CallerOrder, CallerReport, FromCallers } from './orders.ts';
import { readMessage } from './read-message.ts';

const TICK_MS = 2;
const FRAME_MS = 20;
const OPEN_LIMIT_MS = 30_000;
/** Callers begin to speak within so long of their call, at random: about a turn. */
const FIRST_WORD_WITHIN_MS = 6_000;
/** Before it, nobody speaks: sockets to providers may have to be opened. */
const FIRST_WORD_AFTER_MS = 500;

interface Call {
  client: MediaSocketClient;
  caller: Caller;
  /** NaN: its socket is not open yet. */
  beganAtMs: number;
  sent: number;
}

class Callers {
  readonly #order: CallerOrder;
  readonly #random: () => number;
  readonly #calls: Call[] = [];
  readonly #sendLateness: number[] = [];
  #open = 0;
  #closedEarly = 0;
  #firstFault = '';
  #isMeasuring = false;
  #isEnding = false;

  constructor(order: CallerOrder) {
    this.#order = order;
    this.#random = createRandom(order.seed);
  }

  async run(say: (message: FromCallers) => void): Promise<CallerReport> {
    const speaking = this.#speak();
    await this.#dialAll();
    await sleep(this.#order.warmUpMs);
    for (const { caller } of this.#calls) caller.take();
    const cpuBefore = process.cpuUsage();
    this.#isMeasuring = true;
    say({ type: 'began' });
    await sleep(this.#order.measureMs);
    say({ type: 'ended' });
    this.#isMeasuring = false;
    const cpu = process.cpuUsage(cpuBefore);
    const heard = this.#calls.map(({ caller }) => caller.take());
    this.#isEnding = true;
    await speaking;
    for (const { client } of this.#calls) client.close();
    return {
      closedEarly: this.#closedEarly,
      sendLateness: spreadOf(this.#sendLateness),
      cpuMs: (cpu.user + cpu.system) / 1_000,
      heard: sumOf(heard),
    };
  }

  async #dialAll(): Promise<void> {
    const { calls, dialsPerSecond, lines } = this.#order;
    const spoken = lines.map((line) => lineOf(Buffer.from(line, 'base64')));
    const noise = lineNoise(this.#random);
    let dueAtMs = performance.now();
    for (let index = 0; index < calls; index++) {
      dueAtMs += (-Math.log(1 - this.#random()) * 1_000) / dialsPerSecond;
      const waitMs = dueAtMs - performance.now();
      if (waitMs >= 1) await sleep(waitMs);
      const speaksAtMs = performance.now() + FIRST_WORD_AFTER_MS + this.#random() * FIRST_WORD_WITHIN_MS;
      this.#dial(index, new Caller(spoken, noise, index, speaksAtMs), Buffer.from(noise[0]!).toString('latin1'));
    }
    const untilMs = performance.now() + OPEN_LIMIT_MS;
    while (this.#open < calls) {
      if (this.#firstFault !== '') throw new Error(`a call did not connect: ${this.#firstFault}`);
      if (performance.now() > untilMs) throw new Error(`${calls - this.#open} calls were not open in time`);
      await sleep(10);
    }
  }

  #dial(index: number, caller: Caller, payload: string): void {
    const callId = `race-${String(process.pid).padStart(8, '0')}-${String(index).padStart(6, '0')}`;
    const client = new MediaSocketClient(`${this.#order.urlPrefix}${callId}`, callId, payload, {
      onOpen: () => {
        this.#open++;
        client.start();
        call.beganAtMs = performance.now() + FRAME_MS;
      },
      onMessage: (bytes, start, end, atMs) => {
        const message = readMessage(bytes, start, end);
        if (message.kind === 'sound') caller.sound(message.samples, message.isLoud, atMs);
        else if (message.kind === 'clear') {
          caller.cleared(atMs);
          client.sendEvent({ event: 'clearedAudio', sequenceNumber: 0, streamId: callId });
        } else if (message.kind === 'checkpoint') {
          const { name } = message;
          setTimeout(
            () => client.sendEvent({ event: 'playedStream', sequenceNumber: 0, streamId: callId, name }),
            caller.playedAtMs(atMs) - atMs,
          );
        }
      },
      onClose: (why) => {
        if (this.#isEnding) return;
        this.#closedEarly++;
        if (this.#firstFault === '') this.#firstFault = why === '' ? 'closed' : why;
      },
    });
    const call: Call = { client, caller, beganAtMs: Number.NaN, sent: 0 };
    this.#calls.push(call);
  }

  /** Sends what is due, for ever, on each call's own absolute schedule. */
  #speak(): Promise<void> {
    const zeroMs = performance.now();
    return new Promise((done) => {
      const tick = (): void => {
        const nowMs = performance.now();
        for (const call of this.#calls) this.#sendDue(call, nowMs);
        if (this.#isEnding) done();
        else setTimeout(tick, TICK_MS - ((performance.now() - zeroMs) % TICK_MS));
      };
      tick();
    });
  }

  #sendDue(call: Call, nowMs: number): void {
    for (;;) {
      const dueAtMs = call.beganAtMs + call.sent * FRAME_MS;
      // Also false for NaN: not open yet.
      if (!(dueAtMs <= nowMs)) return;
      call.client.sendFrame(call.sent * FRAME_MS, call.caller.frame(nowMs));
      call.sent++;
      if (this.#isMeasuring) this.#sendLateness.push(nowMs - dueAtMs);
    }
  }
}

function sumOf(all: readonly Heard[]): Heard {
  const sum = (name: 'turns' | 'unanswered' | 'tooEarly' | 'talkedOver' | 'lateMs' | 'playedMs'): number =>
    all.reduce((total, one) => total + one[name], 0);
  return {
    turns: sum('turns'),
    repliesMs: all.flatMap(({ repliesMs }) => repliesMs),
    unanswered: sum('unanswered'),
    tooEarly: sum('tooEarly'),
    silencedMs: all.flatMap(({ silencedMs }) => silencedMs),
    talkedOver: sum('talkedOver'),
    lateMs: sum('lateMs'),
    playedMs: sum('playedMs'),
  };
}

const say = (message: FromCallers): void => void process.send?.(message);

process.on('message', (order: CallerOrder) => {
  new Callers(order).run(say).then(
    (report) => say({ type: 'report', report }),
    (error: unknown) => say({ type: 'failed', why: error instanceof Error ? error.message : String(error) }),
  );
});
process.on('disconnect', () => process.exit(0));
say({ type: 'ready' });
