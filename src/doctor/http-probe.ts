/**
 * One small HTTP request over a port, a socket file or an address, for the checks of `parley doctor`. Never rejects.
 */
import { request as plainRequest } from 'node:http';
import { request as secureRequest } from 'node:https';

export type Probe = { ok: true; status: number; body: string } | { ok: false; why: string };

const LIMIT_MS = 5_000;
const MAX_BODY_BYTES = 256 * 1024;

export function probe(
  url: string,
  options: { socketPath?: string; headers?: Record<string, string> } = {},
): Promise<Probe> {
  return new Promise((resolve) => {
    const request = (url.startsWith('https:') ? secureRequest : plainRequest)(url, {
      ...options,
      agent: false,
      timeout: LIMIT_MS,
    });
    request.on('timeout', () => request.destroy(new Error(`no answer within ${LIMIT_MS / 1000} s`)));
    request.on('error', (error: NodeJS.ErrnoException) => resolve({ ok: false, why: error.code ?? error.message }));
    request.on('upgrade', (response, socket) => {
      socket.destroy();
      resolve({ ok: true, status: response.statusCode ?? 101, body: '' });
    });
    request.on('response', (response) => {
      let body = '';
      response.setEncoding('utf8');
      response.on('data', (text: string) => {
        body += text;
        if (body.length > MAX_BODY_BYTES) request.destroy();
      });
      response.on('error', () => {});
      response.on('close', () => resolve({ ok: true, status: response.statusCode ?? 0, body }));
    });
    request.end();
  });
}

/** The instance that answers `/livez` there; null when no Parley does. */
export async function instanceAt(url: string, socketPath?: string): Promise<{ instance: string | null; why: string }> {
  const answer = await probe(`${url}/livez`, socketPath === undefined ? {} : { socketPath });
  if (!answer.ok) return { instance: null, why: answer.why };
  try {
    const { instance } = JSON.parse(answer.body) as { instance?: unknown };
    if (answer.status === 200 && typeof instance === 'string') return { instance, why: '' };
  } catch {
    // Not ours.
  }
  return { instance: null, why: `something else answers there (${answer.status})` };
}
