/**
 * Asks for a session's token as a page does: `POST /api/embed/session`. Never rejects. Called by the browser target.
 */
import type { Pool } from 'undici';
import type { Deployment } from '../target-plan.ts';

export type TokenAnswer =
  | { token: string }
  | {
      token: null;
      /** `X-Error-Code`, the HTTP status, or the system's code. */
      code: string;
      why: string;
      /** 0: there was no answer. */
      httpStatus: number;
    };

export async function askForToken(
  pool: Pool,
  { publicKey, agentId, origin }: Deployment,
  headers: Readonly<Record<string, string>>,
): Promise<TokenAnswer> {
  try {
    const answer = await pool.request({
      method: 'POST',
      path: '/api/embed/session',
      headers: { ...headers, 'content-type': 'application/json', origin },
      body: JSON.stringify({ publicKey, agentId, parentOrigin: origin }),
    });
    const text = await answer.body.text();
    const token = tokenIn(text);
    if (answer.statusCode === 200 && token !== null) return { token };
    const header = answer.headers['x-error-code'];
    const code = typeof header === 'string' ? header : answer.statusCode === 200 ? 'garbage' : `${answer.statusCode}`;
    const why = `the token was answered with ${answer.statusCode}: ${text.slice(0, 120)}`;
    return { token: null, code, why, httpStatus: answer.statusCode };
  } catch (error) {
    const cause = error as { code?: unknown; cause?: { code?: unknown }; name?: unknown };
    const code = String(cause.code ?? cause.cause?.code ?? cause.name ?? 'unknown');
    return { token: null, code, why: `no token: the request failed (${code})`, httpStatus: 0 };
  }
}

function tokenIn(text: string): string | null {
  try {
    const { token } = Object(JSON.parse(text)) as { token?: unknown };
    return typeof token === 'string' ? token : null;
  } catch {
    return null;
  }
}
