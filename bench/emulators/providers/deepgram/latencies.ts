/**
 * How long the emulated recogniser takes for each step, in ms after the sound that caused it has arrived. Scripted at
 * the start, and changed by `emulator.latencies`, for what opens from then on. The decoder's own work is inside of
 * them.
 */
import { z } from 'zod';

const ms = (value: number) => z.number().nonnegative().default(value);

export const latenciesSchema = z.strictObject({
  interimMs: ms(100),
  /** From the end of the pause, from `Finalize` or `CloseStream`. */
  finalMs: ms(150),
  speechStartedMs: ms(50),
  utteranceEndMs: ms(50),
  /** Of all turn events of Flux, and of `ConfigureSuccess`. */
  turnEventMs: ms(100),
  /** Between two interim results. */
  interimEveryMs: ms(500),
  /**
   * The voice gate calls it a pause after so much silence: gaps within words are shorter. A shorter `endpointing` does
   * not help.
   */
  gateHangoverMs: ms(200),
  /** Of Flux: the confidence that a turn is over grows with silence, and reaches its most here. */
  surePauseMs: ms(800),
  /** Without sound or `KeepAlive` for so long, the socket is closed with NET-0001. */
  idleTimeoutMs: ms(10_000),
});

export type Latencies = z.output<typeof latenciesSchema>;
export type LatenciesInput = z.input<typeof latenciesSchema>;
