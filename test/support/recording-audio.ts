/** A finished recording as sound: both channels decoded, for tests that listen. */
import { readOggOpus } from '../../media/audio/ogg-opus-reader.ts';
import { loadOpusCodec } from '../../media/audio/opus-codec.ts';
import { createResampler } from '../../media/audio/resampler.ts';

export interface DecodedRecording {
  rateHz: 16000;
  durationMs: number;
  left: Int16Array;
  right: Int16Array;
}

const RATE_HZ = 16000;
const TICKS_PER_SAMPLE = 48000 / RATE_HZ;
const LONGEST_PACKET_SAMPLES = (RATE_HZ * 120) / 1000;

/** `file`: Ogg/Opus in stereo. */
export async function decodeRecording(file: Uint8Array): Promise<DecodedRecording> {
  const decoder = loadOpusCodec().createDecoder({ rateHz: RATE_HZ, channels: 2 });
  const packets: Int16Array[] = [];
  const room = new Int16Array(LONGEST_PACKET_SAMPLES * 2);
  const facts = readOggOpus(file, (bytes, start, lengthBytes) => {
    const samples = decoder.decode(bytes, start, lengthBytes, room);
    if (samples < 0) throw new Error('a packet of the recording does not decode');
    packets.push(room.slice(0, samples * 2));
  });
  decoder.close();
  const skip = facts.preSkipTicks / TICKS_PER_SAMPLE;
  const samples = Math.round(facts.soundTicks / TICKS_PER_SAMPLE);
  const left = new Int16Array(samples);
  const right = new Int16Array(samples);
  let at = -skip;
  for (const packet of packets) {
    for (let i = 0; i < packet.length / 2; i++, at++) {
      if (at < 0 || at >= samples) continue;
      left[at] = packet[2 * i]!;
      right[at] = packet[2 * i + 1]!;
    }
  }
  return { rateHz: RATE_HZ, durationMs: (facts.soundTicks / 48000) * 1000, left, right };
}

export async function resampleTo16k(samples: Int16Array, rateHz: number): Promise<Int16Array> {
  if (rateHz === 16000) return samples;
  const resampler = await createResampler(rateHz, 16000);
  const result = Int16Array.from(resampler.process(samples));
  resampler.close();
  return result;
}
