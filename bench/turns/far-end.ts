/**
 * Who made a sound when, read from the far end's own recording of a call (callee left, agent right), and what that says
 * of one line of the callee's: how long it waited, and whether it was answered into. Pure; called by the scenario with
 * each finished call.
 */

/** Sound of one side, ms of the recording. */
export interface Run {
  startMs: number;
  endMs: number;
}

export interface Heard {
  /** From the end of the callee's last sound to the agent's next; null when none came before the callee spoke again. */
  answerMs: number | null;
  /**
   * The longest silence that the agent owed: any before a sound of its own, up to its last. The
   * whole wait where none came.
   */
  owedMs: number;
  /** The agent began to speak while the line was being said. */
  cutOff: boolean;
}

const RATE_HZ = 8_000;
const WAV_HEADER_BYTES = 44;
const WINDOW_MS = 10;
/** About -50 dBFS: the emulated line adds no noise. */
const AUDIBLE_PEAK = 100;
/** A consonant may be softer than that for so long. */
const LONGEST_DIP_MS = 60;

/** Runs of sound of one channel of a stereo WAV of 16 bits at 8 kHz. */
export function runsOf(wav: Buffer, channel: 0 | 1): Run[] {
  const runs: Run[] = [];
  const windowSamples = (RATE_HZ * WINDOW_MS) / 1000;
  const windows = Math.floor((wav.length - WAV_HEADER_BYTES) / 4 / windowSamples);
  for (let window = 0; window < windows; window++) {
    let peak = 0;
    for (let i = 0; i < windowSamples; i++) {
      const at = WAV_HEADER_BYTES + (window * windowSamples + i) * 4 + channel * 2;
      peak = Math.max(peak, Math.abs(wav.readInt16LE(at)));
    }
    if (peak < AUDIBLE_PEAK) continue;
    const startMs = window * WINDOW_MS;
    const last = runs.at(-1);
    if (last !== undefined && startMs - last.endMs <= LONGEST_DIP_MS) last.endMs = startMs + WINDOW_MS;
    else runs.push({ startMs, endMs: startMs + WINDOW_MS });
  }
  return runs;
}

/** What became of the line that was begun at `startMs`; the next one, or the end of the call, is at `untilMs`. */
export function heardAfter(
  line: { startMs: number; untilMs: number },
  callee: readonly Run[],
  agent: readonly Run[],
): Heard {
  const own = callee.filter((run) => run.startMs >= line.startMs - WINDOW_MS && run.startMs < line.untilMs);
  const firstMs = own[0]?.startMs ?? line.startMs;
  const endMs = own.at(-1)?.endMs ?? line.startMs;
  const cutOff = agent.some((run) => run.startMs > firstMs && run.startMs < endMs);
  const answers = agent.filter((run) => run.endMs > endMs && run.startMs < line.untilMs);
  let owedMs = answers.length === 0 ? line.untilMs - endMs : 0;
  let quietSinceMs = endMs;
  for (const run of answers) {
    owedMs = Math.max(owedMs, run.startMs - quietSinceMs);
    quietSinceMs = run.endMs;
  }
  return { answerMs: answers[0] === undefined ? null : Math.max(0, answers[0].startMs - endMs), owedMs, cutOff };
}
