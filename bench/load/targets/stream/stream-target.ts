/**
 * Any voice bot that takes a carrier's media streams, as a target of a run: dialled straight, or by the answer
 * document that the carrier would ask for. The tool is the carrier and the phones; the bot is judged by what they
 * hear alone. Made in a far-end process from its `StreamPlan`.
 */
import { Agent } from 'undici';
import type { Clock } from '../../../../media/contract/clock.ts';
import { FrameClock } from '../../../emulators/frame-clock.ts';
import type { MeasuredCall } from '../../contract/measured-call.ts';
import type { PlannedCall } from '../../contract/planned-call.ts';
import type { RunResult } from '../../contract/run-result.ts';
import { type Target, TargetFault } from '../../contract/target.ts';
import type { Talk } from '../../contract/workload.ts';
import { type Clip, clipOf } from '../../far-end/said-sound.ts';
import { isLoopback } from '../../run/may-load.ts';
import { CallFault } from './call-fault.ts';
import { dialStream } from './dial-stream.ts';
import { findStream } from './find-stream.ts';
import { PROTOCOLS } from './protocols.ts';
import { StreamCall, type StreamCallDeps } from './stream-call.ts';
import { addressOf, type StreamPlan } from './stream-plan.ts';

export interface StreamTargetDeps {
  clock: Clock;
  frameSent(lateMs: number): void;
  /** Mu-law 8 kHz of what the far end says; at least one, none of them empty. */
  clipsOf(talk: Talk): Promise<readonly Uint8Array[]>;
}

/** Sound of calls in memory: of more calls none is kept. */
const MOST_RECORDED_BYTES = 128 * 1_048_576;

export class StreamTarget implements Target {
  readonly #plan: StreamPlan;
  readonly #dispatcher = new Agent({ connections: 256 });
  readonly #deps: StreamCallDeps;
  readonly #live = new Map<StreamCall, Promise<MeasuredCall>>();
  /** By the mu-law that they were cut from: clips are the same for all calls of a talk. */
  readonly #clips = new Map<Uint8Array, Clip>();

  constructor(plan: StreamPlan, { clock, frameSent, clipsOf }: StreamTargetDeps) {
    this.#plan = plan;
    this.#deps = {
      plan,
      clock,
      frameClock: new FrameClock(clock),
      dispatcher: this.#dispatcher,
      clipsOf: async ({ talk }) => (talk.kind === 'silent' ? [] : (await clipsOf(talk)).map((one) => this.#cut(one))),
      frameSent,
      mayRecord: () => this.#recordedBytes() < MOST_RECORDED_BYTES,
    };
  }

  describe(): RunResult['target'] {
    const address = addressOf(this.#plan);
    return {
      kind: 'streamUrl' in this.#plan.address ? 'stream' : 'answer-url',
      address,
      protocol: this.#plan.protocol,
      onThisMachine: isLoopback(address),
      version: null,
    };
  }

  /** Asks for the document and opens a stream once, and closes it before a call begins on it. */
  async check(): Promise<void> {
    const never = new AbortController().signal;
    const { clock } = this.#deps;
    try {
      const callId = PROTOCOLS[this.#plan.protocol].newCallId();
      const deps = { clock, dispatcher: this.#dispatcher, signal: never };
      const { url } = await findStream(this.#plan, callId, deps);
      const socket = await dialStream(url, this.#plan, never);
      socket.resume();
      socket.close(1000);
    } catch (error) {
      if (error instanceof CallFault) throw new TargetFault(`${error.message}${this.#wayOut(error)}`);
      throw error;
    }
  }

  async call(planned: PlannedCall): Promise<MeasuredCall> {
    const call = new StreamCall(planned, this.#deps);
    const measured = call.run();
    this.#live.set(call, measured);
    try {
      return await measured;
    } finally {
      this.#live.delete(call);
    }
  }

  /** The carrier's id of a call that goes on; null: there is none. */
  callIdOf(index: number): string | null {
    for (const call of this.#live.keys()) if (call.planned.index === index) return call.callId;
    return null;
  }

  async hangUpAll(limitMs: number): Promise<void> {
    const live = [...this.#live];
    for (const [call] of live) call.cut();
    const { clock } = this.#deps;
    let cancel = (): void => {};
    const limit = new Promise<void>((done) => {
      cancel = clock.after(limitMs, done);
    });
    await Promise.race([Promise.allSettled(live.map(([, measured]) => measured)), limit]);
    cancel();
  }

  async close(): Promise<void> {
    await this.hangUpAll(2_000);
    this.#deps.frameClock.close();
    await this.#dispatcher.destroy();
  }

  #cut(mulaw: Uint8Array): Clip {
    let clip = this.#clips.get(mulaw);
    if (clip === undefined) {
      clip = clipOf(mulaw);
      this.#clips.set(mulaw, clip);
    }
    return clip;
  }

  #recordedBytes(): number {
    let bytes = 0;
    for (const call of this.#live.keys()) bytes += call.recordedBytes;
    return bytes;
  }

  #wayOut({ code }: CallFault): string {
    const option = 'streamUrl' in this.#plan.address ? '--stream' : '--answer-url';
    if (code === '401' || code === '403') {
      return this.#plan.authToken === null
        ? ': where the bot checks signatures give the token that it knows with --auth-token, its own with --header'
        : ': is --auth-token the one that the bot knows, and --protocol right? It signs the address exactly as it is given';
    }
    if (code === '404') return `: is the path in ${option} right?`;
    if (code === 'ECONNREFUSED') return `: start the bot, or mend ${option}`;
    return '';
  }
}
