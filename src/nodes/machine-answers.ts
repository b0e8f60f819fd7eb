/**
 * Asks a machine whether it lives: `GET /livez` at its own address, past any balancer. What counts is the machine:
 * media that cannot reach its control answers too. Called for runs that the database has not heard of
 * (`run-judge.ts`).
 */
/** Which node has answered. */
export const LIVE_NODE_HEADER = 'parley-node';

/** Of one question, where there is time for it. */
export const ANSWER_LIMIT_MS = 1_500;
/** Of the media process, whose control is away. */
const CONTROL_AWAY = new Set([502, 503, 504]);

/** False also where somebody else has the address by now. Never rejects; in `limitMs` at most. */
export async function machineAnswers(address: string, node: string, limitMs = ANSWER_LIMIT_MS): Promise<boolean> {
  try {
    const answer = await fetch(`${address}/livez`, {
      signal: AbortSignal.timeout(limitMs),
      redirect: 'manual',
    });
    await answer.body?.cancel();
    return CONTROL_AWAY.has(answer.status) || answer.headers.get(LIVE_NODE_HEADER) === node;
  } catch {
    return false;
  }
}
