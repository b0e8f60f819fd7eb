/**
 * What a browser session waits for on its socket, and what a socket that was closed instead means. Used by the browser
 * session.
 */
import type { LiveClient, LiveMessage } from '../../../live-client/live-client.ts';
import type { CallFate, MeasuredCall } from '../../contract/measured-call.ts';

export interface Ended {
  fate: CallFate;
  code: string | null;
  why: string | null;
  by: MeasuredCall['endedBy'];
}

const ANSWER_LIMIT_MS = 20_000;
/** Said in order: not now, too many. The rest went wrong. */
const REFUSALS = ['concurrency_limit', 'draining', 'embed_rate_limit', 'api_rate_limit'];

/** Null: the socket was closed before, or nothing came for long. */
export async function messageOf(client: LiveClient, type: string): Promise<LiveMessage | null> {
  const came = client.waitForType(type, ANSWER_LIMIT_MS).catch(() => null);
  return Promise.race([came, client.closed.then(() => null)]);
}

export function resumeTokenOf(client: LiveClient): string {
  return String(client.messages.find(({ type }) => type === 'session.ready')?.['resumeToken'] ?? '');
}

/** Of a socket that was closed before the session was ready. */
export function refusalOf(client: LiveClient): Ended {
  const error = client.messages.find(({ type }) => type === 'error');
  if (error !== undefined) return refusal(String(error['code']), String(error['message']));
  return refusal(String(client.closeCode || 'no_answer'), 'the socket was closed before the session was ready');
}

export function refusal(code: string, why: string): Ended {
  return { fate: REFUSALS.includes(code) ? 'refused' : 'failed', code, why, by: 'target' };
}

/** The socket went and the session was not had again. */
export function lossOf({ closeCode }: LiveClient): Ended {
  const why = `its socket was closed with ${closeCode} and the session not had again`;
  return { fate: 'lost', code: String(closeCode), why, by: 'target' };
}
