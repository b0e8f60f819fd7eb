/**
 * What must happen inside the click itself: browsers give sound and the microphone only to a gesture, and iOS only
 * synchronously. All of it is under way when `unlock` returns; nothing is awaited.
 */
import type { WidgetConfig } from '../contract/ports.ts';
import { codeOfServer, FaultError } from './faults.ts';

/** What this browser lacks for a call, or null. Checked before anything is asked of the visitor. */
export function obstacle(): FaultError | null {
  if (!window.isSecureContext) return new FaultError('insecure_context', 'insecure_context');
  const lacking = [
    [window.AudioWorkletNode, 'AudioWorklet'],
    [navigator.mediaDevices?.getUserMedia, 'getUserMedia'],
    [window.WebSocket, 'WebSocket'],
  ].find(([part]) => !part);
  return lacking ? new FaultError('unsupported_browser', String(lacking[1])) : null;
}

export function openAudio(): AudioContext {
  const { audioSession } = navigator as { audioSession?: { type: string } };
  if (audioSession) audioSession.type = 'play-and-record';
  const context = new AudioContext({ latencyHint: 'interactive' });
  context.resume().catch(() => {});
  // iOS counts a context as unlocked once a source has played in the gesture.
  const silence = context.createBufferSource();
  silence.buffer = context.createBuffer(1, 1, context.sampleRate);
  silence.connect(context.destination);
  silence.start();
  return context;
}

export function openMicrophone(): Promise<MediaStream> {
  const audio = { echoCancellation: true, noiseSuppression: true, autoGainControl: true, channelCount: { ideal: 1 } };
  return navigator.mediaDevices.getUserMedia({ audio });
}

/** Whether the microphone comes without a prompt; false where the browser does not say. */
export async function isMicrophoneGranted(): Promise<boolean> {
  try {
    return (await navigator.permissions.query({ name: 'microphone' as PermissionName })).state === 'granted';
  } catch {
    return false;
  }
}

/** Contract §8. */
export async function fetchToken({ base, publicKey, agentId }: WidgetConfig): Promise<string> {
  const answer = await fetch(`${base}/api/embed/session`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    credentials: 'omit',
    body: JSON.stringify({ publicKey, agentId, parentOrigin: location.origin }),
  });
  if (answer.ok) return ((await answer.json()) as { token: string }).token;
  const code = answer.headers.get('x-error-code') ?? `http_${answer.status}`;
  throw new FaultError(answer.status === 429 ? 'rate_limited' : codeOfServer(code), code);
}
