/** How long the emulated AssemblyAI takes for each step, in ms after the sound that caused it has arrived. */
import { z } from 'zod';

const ms = (value: number) => z.number().nonnegative().default(value);

export const latenciesSchema = z.strictObject({
  beginMs: ms(50),
  /** Of all that is told of turns. */
  turnMs: ms(100),
  heartbeatEveryMs: ms(5_000),
  /** Of models of words: so sure that a turn is over they are after so much silence at most. */
  surePauseMs: ms(800),
});

export type Latencies = z.output<typeof latenciesSchema>;
export type LatenciesInput = z.input<typeof latenciesSchema>;
