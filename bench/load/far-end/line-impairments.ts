/**
 * What the phone's line does to frames on their way to the target: delay, jitter, loss. A lost frame never comes, and
 * its time passes; none overtakes another, because the carrier's socket keeps order. Made by the phone for each call;
 * of a perfect line nothing is made.
 */
import type { Clock } from '../../../media/contract/clock.ts';
import type { Network } from '../contract/workload.ts';
import type { SaidFrame } from './said-sound.ts';

export type SendFrame = (frame: SaidFrame, streamMs: number) => void;

/** `send` behind the line; ends with the call by itself: what comes after its end is dropped by the stream. */
export function createLine(network: Network, clock: Clock, random: () => number, send: SendFrame): SendFrame {
  const { delayMs, jitterMs, lossShare } = network;
  if (delayMs === 0 && jitterMs === 0 && lossShare === 0) return send;
  let lastAtMs = 0;
  return (frame, streamMs) => {
    // Both are drawn for each frame, so that a loss changes nothing for those after it.
    const isLost = random() < lossShare;
    const lateMs = delayMs + jitterMs * random();
    if (isLost) return;
    const nowMs = clock.nowMs();
    lastAtMs = Math.max(lastAtMs, nowMs + lateMs);
    if (lastAtMs <= nowMs) send(frame, streamMs);
    else clock.after(lastAtMs - nowMs, () => send(frame, streamMs));
  };
}
