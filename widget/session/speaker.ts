/**
 * Agent speech from the socket to the playback worklet, and the playhead back. Every binary message belongs to the
 * utterance that was announced last; after a clear nothing older is heard, whatever is still in the decoder.
 */
import type { FromPlayback, ToPlayback } from '../worklets/messages.ts';
import { createOpusDecoder, type PacketDecoder } from './opus.ts';
import type { AudioFormat } from './wire.ts';

export interface SpeakerEvents {
  /** First sample of an utterance handed to the device; `atMs` on performance.now's clock. */
  started(utteranceId: string, atMs: number): void;
  position(utteranceId: string, playedMs: number): void;
  level(level: number): void;
  underrun(): void;
  /** A clear has been carried out: nothing sounds any more. */
  silenced(atMs: number): void;
  /** The decoder gave up; the session goes on in PCM. */
  codecFailed(): void;
}

export interface Speaker {
  format(format: AudioFormat): void;
  begin(utteranceId: string): void;
  audio(bytes: ArrayBuffer): void;
  endOf(utteranceId: string): void;
  /** Nothing more comes: what is there is all. */
  finish(): void;
  clear(): void;
  /** Everything that was said has been played; true also when nothing was. */
  readonly isSilent: boolean;
  close(): void;
}

export function createSpeaker(context: AudioContext, events: SpeakerEvents): Speaker {
  const node = new AudioWorkletNode(context, 'parley-playback', { numberOfInputs: 0, outputChannelCount: [1] });
  node.connect(context.destination);
  const ids: string[] = [''];
  let current = 0;
  let sounding = 0;
  let cleared = 0;
  let doneUpTo = 0;
  let decoder: PacketDecoder | null = null;

  const say = (message: ToPlayback, transfer: Transferable[] = []): void => node.port.postMessage(message, transfer);
  node.port.onmessage = ({ data }: MessageEvent<FromPlayback>) => {
    if (data.type === 'level') events.level(data.level);
    else if (data.type === 'underrun') events.underrun();
    else if (data.type === 'started') events.started(ids[data.utterance]!, whenHeard(context, data.contextTime));
    else if (data.type === 'flushed') flushed(data.utterance, data.playedMs);
    else {
      if (data.type === 'done') {
        doneUpTo = data.utterance;
        if (sounding === data.utterance) sounding = 0;
      }
      events.position(ids[data.utterance]!, Math.round(data.playedMs));
    }
  };

  /**
   * A clear is answered for what it cut, also when no sound of it had come; what had been
   * played out has its answer already.
   */
  function flushed(utterance: number, playedMs: number): void {
    const cut = utterance || cleared;
    events.silenced(whenHeard(context, context.currentTime));
    if (cut > doneUpTo) events.position(ids[cut]!, Math.round(playedMs));
  }

  function begin(utteranceId: string): void {
    if (ids[current] === utteranceId) return;
    finish();
    current = ids.push(utteranceId) - 1;
    sounding = current;
  }

  function finish(): void {
    if (current === 0) return;
    const utterance = current;
    const end = (): void => say({ type: 'end', utterance });
    if (decoder === null) end();
    else decoder.drained(end);
  }

  return {
    format({ codec, sampleRate }) {
      decoder?.close();
      decoder = null;
      if (codec === 'opus') {
        const deliver = (samples: Float32Array<ArrayBuffer>, utterance: number): void =>
          say({ type: 'audio', utterance, samples }, [samples.buffer]);
        decoder = createOpusDecoder(deliver, events.codecFailed);
      }
      say({ type: 'format', rateHz: sampleRate });
    },
    begin,
    audio(bytes) {
      // A player without announcements would be silent for ever: sound before the first one is an utterance of its own.
      if (current === 0) begin('');
      if (decoder !== null) decoder.decode(bytes, current);
      else
        say({ type: 'audio', utterance: current, samples: new Int16Array(bytes, 0, bytes.byteLength >> 1) }, [bytes]);
    },
    finish,
    endOf(utteranceId) {
      if (ids[current] === utteranceId) finish();
    },
    clear() {
      decoder?.reset();
      say({ type: 'flush' });
      cleared = current;
      current = 0;
      sounding = 0;
    },
    get isSilent() {
      return sounding === 0;
    },
    close() {
      decoder?.close();
      node.port.onmessage = null;
      // Faded out within 10 ms; the owner closes the context.
      say({ type: 'flush' });
    },
  };
}

/** From the context's clock to performance.now's, with what the device adds. */
function whenHeard(context: AudioContext, contextTime: number): number {
  const { outputLatency = 0 } = context;
  return performance.now() + (contextTime - context.currentTime + outputLatency) * 1000;
}
