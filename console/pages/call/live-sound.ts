/**
 * Plays a call as it runs: frames of both sides, each with its place in the call's time, a little later than they come,
 * so that what is late by a moment is still in time. The caller stands a little to the left, the agent to the right.
 * Used by `listen-in.tsx`.
 */
import type { SoundFormat } from '../../api/listening.ts';

/** From a frame's arrival to its sound; more after a hole, up to the most. */
const LEAD_SECONDS = 0.12;
/** Further behind than this it catches up. */
const MOST_LEAD_SECONDS = 0.35;
const HEAD_BYTES = 4;
const FRAME_HEAD_BYTES = 8;
const PAN = 0.4;
const OPUS_HZ = 48_000;

export interface LiveSound {
  /** One binary message of `/ws/monitor`. */
  play(frames: DataView): void;
  roundTrip(ms: number): void;
  /** Who speaks in the agent's place does not want to hear their own words a moment later. */
  hushAgent(isHushed: boolean): void;
  /** From the sound in the call to the sound here, as far as it can be reckoned. */
  readonly behindMs: number;
  close(): void;
}

/** After a press of somebody's: browsers let nothing sound before. Throws where the browser cannot decode the call. */
export function playLive(caller: SoundFormat, agent: SoundFormat): LiveSound {
  const context = new AudioContext({ sampleRate: Math.max(caller.rateHz, agent.rateHz), latencyHint: 'interactive' });
  void context.resume();
  /** Of the context, when 0 of the call's time sounds here. */
  let zeroAt = Number.NaN;
  let roundTripMs = 0;
  let behindMs = 0;
  let streamMs = 0;

  function schedule(samples: Float32Array<ArrayBuffer>, rateHz: number, atMs: number, panner: AudioNode): void {
    if (samples.length === 0) return;
    const now = context.currentTime;
    let at = zeroAt + atMs / 1_000;
    if (Number.isNaN(at) || at < now || at > now + MOST_LEAD_SECONDS) {
      zeroAt = now + LEAD_SECONDS - atMs / 1_000;
      at = now + LEAD_SECONDS;
    }
    const buffer = context.createBuffer(1, samples.length, rateHz);
    buffer.copyToChannel(samples, 0);
    const source = new AudioBufferSourceNode(context, { buffer });
    source.connect(panner);
    source.start(at);
    behindMs = (at - now + (context.outputLatency || 0)) * 1_000 + streamMs - atMs + roundTripMs / 2;
  }

  const agentGain = new GainNode(context);
  agentGain.connect(context.destination);
  const sides = [createSide(caller, -PAN, context.destination), createSide(agent, PAN, agentGain)];

  function createSide(
    format: SoundFormat,
    pan: number,
    to: AudioNode,
  ): (bytes: Uint8Array<ArrayBuffer>, atMs: number) => void {
    const panner = new StereoPannerNode(context, { pan });
    panner.connect(to);
    if (format.codec !== 'opus') {
      const decode = format.codec === 'mulaw' ? fromMulaw : fromPcm;
      return (bytes, atMs) => schedule(decode(bytes), format.rateHz, atMs, panner);
    }
    const decoder = new AudioDecoder({
      output(data) {
        const samples = new Float32Array(data.numberOfFrames);
        data.copyTo(samples, { planeIndex: 0, format: 'f32-planar' });
        schedule(samples, data.sampleRate, data.timestamp / 1_000, panner);
        data.close();
      },
      error() {},
    });
    decoder.configure({ codec: 'opus', sampleRate: OPUS_HZ, numberOfChannels: 1 });
    return (data, atMs) => {
      if (decoder.state === 'configured') {
        decoder.decode(new EncodedAudioChunk({ type: 'key', timestamp: atMs * 1_000, data }));
      }
    };
  }

  return {
    get behindMs() {
      return behindMs;
    },
    hushAgent(isHushed) {
      agentGain.gain.value = isHushed ? 0 : 1;
    },
    roundTrip(ms) {
      roundTripMs = ms;
    },
    play(frames) {
      streamMs = frames.getUint32(0, true);
      for (let at = HEAD_BYTES; at + FRAME_HEAD_BYTES <= frames.byteLength; ) {
        const lengthBytes = frames.getUint16(at + 2, true);
        const bytes = new Uint8Array(frames.buffer as ArrayBuffer, at + FRAME_HEAD_BYTES, lengthBytes);
        sides[frames.getUint8(at)]?.(bytes, frames.getUint32(at + 4, true));
        at += FRAME_HEAD_BYTES + lengthBytes;
      }
    },
    close() {
      void context.close();
    },
  };
}

/** ITU-T G.711: eight segments of sixteen steps. */
const MULAW = Float32Array.from({ length: 256 }, (_, code) => {
  const inverted = ~code & 0xff;
  const magnitude = (((inverted & 0x0f) << 3) + 0x84) << ((inverted >> 4) & 7);
  return (inverted & 0x80 ? 0x84 - magnitude : magnitude - 0x84) / 32_768;
});

function fromMulaw(bytes: Uint8Array<ArrayBuffer>): Float32Array<ArrayBuffer> {
  const samples = new Float32Array(bytes.length);
  for (let i = 0; i < bytes.length; i++) samples[i] = MULAW[bytes[i]!]!;
  return samples;
}

function fromPcm(bytes: Uint8Array<ArrayBuffer>): Float32Array<ArrayBuffer> {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const samples = new Float32Array(bytes.length >> 1);
  for (let i = 0; i < samples.length; i++) samples[i] = view.getInt16(i * 2, true) / 32_768;
  return samples;
}
