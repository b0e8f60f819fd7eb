/**
 * The cookies of a session, and of a way to an OpenID provider. `__Host-parley` on https: a browser takes it from this
 * very host alone and never sends it in clear. On a plain http://localhost, where browsers may refuse that, it is
 * called `parley-local`. Elsewhere in clear nobody signs in. A proxy may call this service `127.0.0.1` whatever it is
 * to the browser (nginx does so by itself), so what the browser says of its own place outweighs `Host`. Pure.
 */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Refusal } from '../refusal.ts';

const SECURE = '__Host-parley';
const LOCAL = 'parley-local';
const LOOPBACK = /^(localhost|127\.0\.0\.1|\[::1\])(:\d+)?$/i;
/** As long as a session may last. */
const MAX_AGE_SECONDS = 7 * 24 * 3600;
const ROUND = '-openid';
/** As long as people may take at the provider's page. */
const ROUND_SECONDS = 600;

/** What the browser has sent; null: nothing. */
export const sessionToken = (request: FastifyRequest): string | null => cookieOf(request, '');

function cookieOf(request: FastifyRequest, suffix: string): string | null {
  const name = nameFor(request, suffix);
  for (const pair of (request.headers.cookie ?? '').split(';')) {
    const at = pair.indexOf('=');
    if (at > 0 && pair.slice(0, at).trim() === name) return pair.slice(at + 1).trim();
  }
  return null;
}

/** Throws where the cookie would be readable on the way. */
export function mustBePrivate(request: FastifyRequest, publicUrl: string): void {
  if (!isLocal(request) && !publicUrl.startsWith('https://')) throw new Refusal('insecure_address');
}

export function setSessionCookie(request: FastifyRequest, reply: FastifyReply, token: string): void {
  addCookie(request, reply, { suffix: '', value: token, maxAgeSeconds: MAX_AGE_SECONDS });
}

/** Of a way to an OpenID provider and back: what only this browser knows of it; null: it knows nothing. */
export const roundSecret = (request: FastifyRequest): string | null => cookieOf(request, ROUND);

export function setRoundCookie(request: FastifyRequest, reply: FastifyReply, secret: string): void {
  addCookie(request, reply, { suffix: ROUND, value: secret, maxAgeSeconds: ROUND_SECONDS });
}

export function clearRoundCookie(request: FastifyRequest, reply: FastifyReply): void {
  addCookie(request, reply, { suffix: ROUND, value: '', maxAgeSeconds: 0 });
}

/** Of this service as the browser has it; no slash at its end. */
export const serviceAddress = (request: FastifyRequest, publicUrl: string): string =>
  isLocal(request) ? `http://${request.headers.host}` : publicUrl;

export function clearSessionCookie(request: FastifyRequest, reply: FastifyReply): void {
  addCookie(request, reply, { suffix: '', value: '', maxAgeSeconds: 0 });
}

/** Beside others of the same answer. */
function addCookie(
  request: FastifyRequest,
  reply: FastifyReply,
  { suffix, value, maxAgeSeconds }: { suffix: string; value: string; maxAgeSeconds: number },
): void {
  const secure = isLocal(request) ? '' : '; Secure';
  const name = nameFor(request, suffix);
  reply.header('set-cookie', `${name}=${value}; Path=/; Max-Age=${maxAgeSeconds}; HttpOnly; SameSite=Lax${secure}`);
}

const nameFor = (request: FastifyRequest, suffix: string): string => (isLocal(request) ? LOCAL : SECURE) + suffix;

/** The browser is on this machine, and asks without TLS. */
export function isLocal({ headers: { host = '', origin, cookie = '' } }: FastifyRequest): boolean {
  const isOriginLocal = origin === undefined || LOOPBACK.test(origin.replace(/^http:\/\//, ''));
  return LOOPBACK.test(host) && isOriginLocal && !cookie.includes(SECURE);
}
