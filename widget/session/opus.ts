/**
 * Opus by WebCodecs, where the browser has it: 48 kHz mono, 20 ms. Elsewhere PCM is spoken, and
 * nothing is downloaded for it.
 */

export const OPUS_RATE_HZ = 48_000;
const FRAME_MICROSECONDS = 20_000;
const ENCODER_CONFIG = {
  codec: 'opus',
  sampleRate: OPUS_RATE_HZ,
  numberOfChannels: 1,
  bitrate: 28_000,
  opus: { application: 'voip', signal: 'voice', frameDuration: FRAME_MICROSECONDS, complexity: 5 },
} as AudioEncoderConfig;
const DECODER_CONFIG: AudioDecoderConfig = { codec: 'opus', sampleRate: OPUS_RATE_HZ, numberOfChannels: 1 };

export interface OpusSupport {
  encode: boolean;
  decode: boolean;
}

export async function probeOpus(): Promise<OpusSupport> {
  const asks = async (ask: () => Promise<{ supported?: boolean }>): Promise<boolean> => {
    try {
      return (await ask()).supported === true;
    } catch {
      return false;
    }
  };
  const [encode, decode] = await Promise.all([
    asks(() => AudioEncoder.isConfigSupported(ENCODER_CONFIG)),
    asks(() => AudioDecoder.isConfigSupported(DECODER_CONFIG)),
  ]);
  return { encode, decode };
}

export interface FrameEncoder {
  /** 20 ms of 48 kHz. */
  encode(samples: Float32Array<ArrayBuffer>): void;
  close(): void;
}

/** Packets come some milliseconds later, in order. `onFailed` once: nothing more comes then. */
export function createOpusEncoder(onPacket: (packet: ArrayBuffer) => void, onFailed: () => void): FrameEncoder {
  let timestamp = 0;
  const encoder = new AudioEncoder({
    output(chunk) {
      const packet = new ArrayBuffer(chunk.byteLength);
      chunk.copyTo(packet);
      onPacket(packet);
    },
    error: onFailed,
  });
  encoder.configure(ENCODER_CONFIG);
  return {
    encode(samples) {
      if (encoder.state !== 'configured') return;
      const data = new AudioData({
        format: 'f32',
        sampleRate: OPUS_RATE_HZ,
        numberOfFrames: samples.length,
        numberOfChannels: 1,
        timestamp,
        data: samples,
      });
      timestamp += FRAME_MICROSECONDS;
      encoder.encode(data);
      data.close();
    },
    close: () => encoder.state === 'closed' || encoder.close(),
  };
}

export interface PacketDecoder {
  /** `utterance` comes back with the samples. */
  decode(packet: ArrayBuffer, utterance: number): void;
  /** Calls back when all that was given has come out. */
  drained(then: () => void): void;
  /** Drops what has not come out yet. */
  reset(): void;
  close(): void;
}

export function createOpusDecoder(
  onSamples: (samples: Float32Array<ArrayBuffer>, utterance: number) => void,
  onFailed: () => void,
): PacketDecoder {
  let timestamp = 0;
  let inside: number[] = [];
  let generation = 0;
  const decoder = new AudioDecoder({
    output(data) {
      const samples = new Float32Array(data.numberOfFrames);
      data.copyTo(samples, { planeIndex: 0, format: 'f32-planar' });
      data.close();
      const utterance = inside.shift();
      if (utterance !== undefined) onSamples(samples, utterance);
    },
    error: onFailed,
  });
  decoder.configure(DECODER_CONFIG);
  return {
    decode(packet, utterance) {
      if (decoder.state !== 'configured') return;
      inside.push(utterance);
      decoder.decode(new EncodedAudioChunk({ type: 'key', timestamp, data: packet }));
      timestamp += FRAME_MICROSECONDS;
    },
    drained(then) {
      const asked = generation;
      if (decoder.state !== 'configured' || inside.length === 0) then();
      else
        decoder.flush().then(
          () => asked === generation && then(),
          () => {},
        );
    },
    reset() {
      generation++;
      inside = [];
      if (decoder.state !== 'configured') return;
      decoder.reset();
      decoder.configure(DECODER_CONFIG);
    },
    close: () => decoder.state === 'closed' || decoder.close(),
  };
}
