/**
 * Where a leg's sound goes beside its rings when somebody listens in: each 20 ms frame received and each frame played,
 * as it is on the leg. Given to a leg by `CallLeg.listen`; what it does must be short, must not throw and must change
 * nothing of what it is shown, because it runs on the frame path.
 */
import type { PLAYED, RECEIVED } from '../../../rings/record-ring.ts';

export type SoundSide = typeof RECEIVED | typeof PLAYED;

export interface SoundTap {
  /** `atMs`: the frame's place on the stream's time line. `bytes` is the leg's own memory: copy what is to stay. */
  frame(side: SoundSide, bytes: Uint8Array, start: number, lengthBytes: number, atMs: number): void;
}
