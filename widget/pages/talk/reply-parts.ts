/** A `latency` message of `/ws/live` as the parts that follow one another. Pure. */

export interface LatencyMessage {
  turnId: string;
  eouMs: number;
  sttMs: number | null;
  llmMs: number | null;
  ttsMs: number | null;
  agentMs: number;
  heardMs: number | null;
}

/** Lengths of the parts in ms, none negative; their sum is the last figure that is known. */
export function partsOf({ eouMs, sttMs, llmMs, ttsMs, agentMs, heardMs }: LatencyMessage): number[] {
  let before = 0;
  return [eouMs, sttMs, llmMs, ttsMs ?? agentMs, heardMs ?? agentMs].map((atMs) => {
    const length = Math.max(0, (atMs ?? before) - before);
    before += length;
    return length;
  });
}
