/**
 * Places calls as a client of the deployment does: `POST /api/outbound-call`, once each, and every answer is an answer.
 * Called by the phone target.
 */
import { Pool } from 'undici';
import type { CallFate } from '../../contract/measured-call.ts';
import type { Deployment } from '../target-plan.ts';

export interface Placed {
  /** The deployment's id of the call; null: it did not take it. */
  callUuid: string | null;
  fate: Extract<CallFate, 'refused' | 'failed'> | null;
  code: string | null;
  why: string | null;
  /** 0: there was no answer. */
  httpStatus: number;
}

const CONNECTIONS = 256;
const ANSWER_LIMIT_MS = 30_000;
const LONGEST_ANSWER_BYTES = 65_536;

export class Placing {
  readonly #pool: Pool;
  readonly #deployment: Deployment;
  readonly #headers: Record<string, string>;

  constructor(deployment: Deployment) {
    this.#deployment = deployment;
    this.#pool = new Pool(deployment.url, {
      connections: CONNECTIONS,
      pipelining: 1,
      headersTimeout: ANSWER_LIMIT_MS,
      bodyTimeout: ANSWER_LIMIT_MS,
    });
    this.#headers = { authorization: `Bearer ${deployment.apiKey}`, 'content-type': 'application/json' };
  }

  /** Never rejects. */
  async place(to: string): Promise<Placed> {
    const { agentId, enterprise, lineId } = this.#deployment;
    try {
      const answer = await this.#pool.request({
        method: 'POST',
        path: '/api/outbound-call',
        headers: this.#headers,
        body: JSON.stringify({ to, agentId, enterprise, from: lineId }),
      });
      const header = answer.headers['x-error-code'];
      const text = await bodyOf(answer.body);
      return placedOf(answer.statusCode, typeof header === 'string' ? header : null, text);
    } catch (error) {
      const code = codeOf(error);
      return { callUuid: null, fate: 'failed', code, why: sentenceOf(code, this.#deployment.url), httpStatus: 0 };
    }
  }

  async close(): Promise<void> {
    await this.#pool.destroy();
  }
}

function placedOf(httpStatus: number, errorCode: string | null, text: string): Placed {
  let body: { callUuid?: unknown; message?: unknown } = {};
  let isJson = true;
  try {
    body = Object(JSON.parse(text)) as typeof body;
  } catch {
    isJson = false;
  }
  if (httpStatus === 200 && typeof body.callUuid === 'string') {
    return { callUuid: body.callUuid, fate: null, code: null, why: null, httpStatus };
  }
  const said = typeof body.message === 'string' ? `: ${body.message}` : '';
  if (!isJson && errorCode === null && (httpStatus === 502 || httpStatus === 504)) {
    const why = `a proxy answered ${httpStatus}: nobody answers behind it`;
    return { callUuid: null, fate: 'failed', code: `proxy_${httpStatus}`, why, httpStatus };
  }
  if (httpStatus === 200 || (!isJson && errorCode === null)) {
    const why = `the placement was answered ${httpStatus} with what is no answer of Parley: ${text.slice(0, 60)}`;
    return { callUuid: null, fate: 'failed', code: 'garbage', why, httpStatus };
  }
  // A refusal is a decision with a name: too many calls, no room, not now. The rest went wrong.
  const fate = [401, 403, 404, 409, 429, 503].includes(httpStatus) ? 'refused' : 'failed';
  return {
    callUuid: null,
    fate,
    code: errorCode ?? String(httpStatus),
    why: `the placement was answered ${httpStatus}${said}`,
    httpStatus,
  };
}

/** As far as it can be one of Parley. */
async function bodyOf(body: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > LONGEST_ANSWER_BYTES) break;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function codeOf(error: unknown): string {
  const cause = error as { code?: unknown; cause?: { code?: unknown }; name?: unknown };
  return String(cause.code ?? cause.cause?.code ?? cause.name ?? 'unknown');
}

export function sentenceOf(code: string, url: string): string {
  if (code === 'ECONNREFUSED') return `nothing listens at ${url}`;
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return `the name in ${url} is not known`;
  if (code.startsWith('UND_ERR_') && code.endsWith('TIMEOUT')) return `${url} did not answer in time`;
  if (/CERT|SELF_SIGNED|UNABLE_TO_VERIFY/.test(code)) {
    return `the certificate of ${url} is not trusted (${code}); give its authority with NODE_EXTRA_CA_CERTS=<file>`;
  }
  return `the connection to ${url} failed (${code})`;
}
