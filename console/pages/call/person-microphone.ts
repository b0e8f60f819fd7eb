/**
 * The microphone of who speaks with a caller, in frames of 20 ms, mono, 16 kHz, 16 bit. The worklet is the widget's
 * (`widget/worklets`), under a name of the console's own. Used by `take-over.tsx`.
 */
const RATE_HZ = 16_000;

export interface PersonMicrophone {
  /** Idempotent. */
  close(): void;
}

/** Rejects where there is none, or it is not allowed. `lost`: it was pulled out, or taken back. */
export async function openMicrophone(
  frame: (samples: ArrayBuffer) => void,
  lost: () => void,
): Promise<PersonMicrophone> {
  const stream = await navigator.mediaDevices.getUserMedia({
    audio: { echoCancellation: true, noiseSuppression: true, autoGainControl: true, channelCount: 1 },
  });
  const context = new AudioContext({ latencyHint: 'interactive' });
  let isClosed = false;
  function close(): void {
    if (isClosed) return;
    isClosed = true;
    for (const track of stream.getTracks()) track.stop();
    void context.close();
  }
  try {
    const address = document.querySelector<HTMLMetaElement>('meta[name="worklets"]')?.content ?? '';
    await context.audioWorklet.addModule(address);
    const node = new AudioWorkletNode(context, 'parley-capture', {
      numberOfOutputs: 0,
      channelCount: 1,
      channelCountMode: 'explicit',
    });
    node.port.onmessage = ({ data }: MessageEvent<{ frame: ArrayBuffer }>) => {
      if (!isClosed) frame(data.frame);
    };
    node.port.postMessage({ rateHz: RATE_HZ, asFloat: false });
    context.createMediaStreamSource(stream).connect(node);
    await context.resume();
  } catch (error) {
    close();
    throw error;
  }
  for (const track of stream.getAudioTracks()) track.onended = () => isClosed || lost();
  return { close };
}
