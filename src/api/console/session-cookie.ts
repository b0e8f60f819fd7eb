/**
 * The cookie of a session. `__Host-parley` on https: a browser takes it from this very host alone and never sends it in
 * clear. On a plain http://localhost, where browsers may refuse that, it is called `parley-local`. Elsewhere in clear
 * nobody signs in. Pure.
 */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Refusal } from '../refusal.ts';

const SECURE = '__Host-parley';
const LOCAL = 'parley-local';
const LOOPBACK = /^(localhost|127\.0\.0\.1|\[::1\])(:\d+)?$/i;
/** As long as a session may last. */
const MAX_AGE_SECONDS = 7 * 24 * 3600;

/** What the browser has sent; null: nothing. */
export function sessionToken(request: FastifyRequest): string | null {
  const name = nameFor(request);
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
  reply.header('set-cookie', cookie(request, token, MAX_AGE_SECONDS));
}

export function clearSessionCookie(request: FastifyRequest, reply: FastifyReply): void {
  reply.header('set-cookie', cookie(request, '', 0));
}

function cookie(request: FastifyRequest, value: string, maxAgeSeconds: number): string {
  const secure = isLocal(request) ? '' : '; Secure';
  return `${nameFor(request)}=${value}; Path=/; Max-Age=${maxAgeSeconds}; HttpOnly; SameSite=Lax${secure}`;
}

const nameFor = (request: FastifyRequest): string => (isLocal(request) ? LOCAL : SECURE);

const isLocal = (request: FastifyRequest): boolean => LOOPBACK.test(request.headers.host ?? '');
