/**
 * The microphone from its stream to packets of the negotiated codec. A device that goes away in mid-call is looked for
 * again: at once, and at each change of devices, for 10 s; the call goes on meanwhile.
 */
import type { FromCapture, ToCapture } from '../worklets/messages.ts';
import { createOpusEncoder, type FrameEncoder } from './opus.ts';
import { stopAll } from './stop-all.ts';
import type { AudioFormat } from './wire.ts';

export interface MicrophoneEvents {
  packet(packet: ArrayBuffer): void;
  level(level: number): void;
  lost(): void;
  found(): void;
  /** No device came back; the error is what the last attempt was refused with. */
  gone(error: unknown): void;
  codecFailed(): void;
}

export interface Microphone {
  format(format: AudioFormat): void;
  use(stream: MediaStream): void;
  mute(muted: boolean): void;
  close(): void;
}

const LOOK_FOR_MS = 10_000;
const LEVEL_EVERY_FRAMES = 3;

export function createMicrophone(
  context: AudioContext,
  request: () => Promise<MediaStream>,
  events: MicrophoneEvents,
): Microphone {
  const node = new AudioWorkletNode(context, 'parley-capture', {
    numberOfOutputs: 0,
    channelCount: 1,
    channelCountMode: 'explicit',
  });
  let stream: MediaStream | null = null;
  let source: MediaStreamAudioSourceNode | null = null;
  let encoder: FrameEncoder | null = null;
  let isMuted = false;
  let isClosed = false;
  let frames = 0;
  let stopLooking = (): void => {};

  node.port.onmessage = ({ data }: MessageEvent<FromCapture>) => {
    if (frames++ % LEVEL_EVERY_FRAMES === 0) events.level(isMuted ? 0 : data.level);
    if (isMuted) return;
    if (encoder === null) events.packet(data.frame);
    else encoder.encode(new Float32Array(data.frame));
  };

  function release(): void {
    source?.disconnect();
    if (stream !== null) stopAll(stream);
    source = null;
    stream = null;
  }

  function use(next: MediaStream): void {
    release();
    if (isClosed) {
      stopAll(next);
      return;
    }
    stream = next;
    source = context.createMediaStreamSource(next);
    source.connect(node);
    const [track] = next.getAudioTracks();
    if (track === undefined) return;
    track.enabled = !isMuted;
    track.onended = lost;
    if (track.readyState === 'ended') lost();
  }

  /** The device was pulled out or the permission was taken back. */
  function lost(): void {
    if (isClosed) return;
    release();
    events.lost();
    let refusal: unknown = new DOMException('no microphone', 'NotFoundError');
    let isLooking = false;
    const look = (): void => {
      if (isLooking) return;
      isLooking = true;
      request().then(
        (found) => {
          stopLooking();
          use(found);
          if (!isClosed) events.found();
        },
        (error: unknown) => {
          isLooking = false;
          refusal = error;
          // The visitor has said no: nothing will change that by itself.
          if (error instanceof DOMException && error.name === 'NotAllowedError') giveUp();
        },
      );
    };
    const giveUp = (): void => {
      stopLooking();
      if (!isClosed) events.gone(refusal);
    };
    const timer = setTimeout(giveUp, LOOK_FOR_MS);
    navigator.mediaDevices.addEventListener('devicechange', look);
    stopLooking = () => {
      clearTimeout(timer);
      navigator.mediaDevices.removeEventListener('devicechange', look);
    };
    look();
  }

  return {
    format({ codec, sampleRate }) {
      encoder?.close();
      encoder = codec === 'opus' ? createOpusEncoder(events.packet, events.codecFailed) : null;
      const message: ToCapture = { type: 'format', rateHz: sampleRate, asFloat: encoder !== null };
      node.port.postMessage(message);
    },
    use,
    mute(muted) {
      isMuted = muted;
      stream?.getAudioTracks().forEach((track) => {
        track.enabled = !muted;
      });
    },
    close() {
      isClosed = true;
      stopLooking();
      release();
      encoder?.close();
      node.port.onmessage = null;
      node.disconnect();
    },
  };
}
