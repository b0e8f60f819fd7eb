/**
 * A call of a `tone` agent: a steady tone straight into the downlink ring, and the uplink thrown away unread. No engines, no turns: the
 * bench measures sockets, rings and clock with it. The thread makes and ticks it like any other session.
 */
import { encodeMulaw } from '../../audio/g711.ts';
import type { ToneAgent } from '../../contract/agent-definition.ts';
import { FRAME_MS, frameBytesOf, type LegFormat, voiceFormatOf } from '../../contract/audio-format.ts';
import type { Clock } from '../../contract/clock.ts';
import type { CallSetup } from '../../contract/link-messages.ts';
import { controlRefused } from '../../contract/live-control.ts';
import type { FromPipeline } from '../../contract/thread-messages.ts';
import type { CallBlock } from '../../rings/call-block.ts';
import type { Session } from '../session.ts';
import type { FrameEncoder } from '../speaking/frame-encoder.ts';
import { Transcript } from '../transcript.ts';

/** One second of tone is a whole number of periods at any whole frequency: it loops without a click. */
const LOOP_FRAMES = 1000 / FRAME_MS;
const LEVEL = 0.25;
const LEAD_FRAMES = 12;

/** One second of the tone in the leg's codec. Share it between calls of one tone. */
export function toneLoop(toneHz: number, format: LegFormat): Uint8Array {
  const samples = new Int16Array(format.rateHz);
  for (let i = 0; i < samples.length; i++) {
    samples[i] = Math.round(Math.sin((2 * Math.PI * Math.round(toneHz) * i) / format.rateHz) * 32767 * LEVEL);
  }
  const loop = new Uint8Array(LOOP_FRAMES * frameBytesOf(format));
  if (format.codec === 'mulaw') encodeMulaw(samples, 0, samples.length, loop, 0);
  else loop.set(new Uint8Array(samples.buffer));
  return loop;
}

export interface ToneSessionDeps {
  clock: Clock;
  /** In `voiceFormatOf` the leg's output. */
  loop: Uint8Array;
  /** Of an Opus leg; the session closes it. */
  encoder?: FrameEncoder | null;
  ringIo: () => void;
  send: (message: FromPipeline) => void;
}

export function createToneSession(deps: ToneSessionDeps, setup: CallSetup, agent: ToneAgent, call: CallBlock): Session {
  const { callUuid } = setup;
  const { loop, ringIo, send, encoder = null } = deps;
  const transcript = new Transcript(setup, call, deps.clock, send);
  const frameBytes = frameBytesOf(voiceFormatOf(setup.outputFormat ?? setup.format));
  const maxDurationMs = Math.min(setup.maxDurationMs, (agent.maxDurationSeconds ?? Number.POSITIVE_INFINITY) * 1000);
  const firstSeq = call.sentSeq + 1;
  let generation = call.generation;
  let nextSeq = firstSeq;
  let heard = false;
  let ended = false;

  function fill(): void {
    if (call.appliedGeneration !== generation) return;
    let room = LEAD_FRAMES - call.downlink.queuedFrames;
    for (; room > 0; room--) {
      const from = (nextSeq % LOOP_FRAMES) * frameBytes;
      const packetBytes = encoder === null ? frameBytes : encoder.encode(loop, from);
      const source = encoder === null ? loop : encoder.packet;
      if (!call.downlink.tryWrite(source, encoder === null ? from : 0, packetBytes, generation, nextSeq, 0)) return;
      nextSeq++;
    }
  }

  return {
    callUuid,
    get hasInput() {
      return call.uplink.hasFrame;
    },
    start() {
      if (call.downlink.queuedFrames > 0) generation = call.raiseGeneration();
      fill();
      ringIo();
    },
    tick() {
      while (call.uplink.peek()) call.uplink.release();
      if (ended) return;
      if (call.generation !== generation) generation = call.generation;
      fill();
      if (!heard && call.sentSeq >= firstSeq) {
        heard = true;
        transcript.agentStarted('', null, null, Number.NaN);
      }
      if (transcript.nowMs < maxDurationMs) return;
      ended = true;
      send({ type: 'call.end', callUuid, reason: 'max_duration_reached', disposition: null, error: null });
    },
    pressed() {},
    control: () => controlRefused('unsupported'),
    command() {},
    toolAnswered() {},
    stop() {
      ended = true;
      encoder?.close();
    },
  };
}
