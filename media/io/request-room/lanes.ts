/**
 * Which lane a plain request takes, by what it is and by nothing that costs: probes and carriers' callbacks have lanes
 * of their own, so that neither waits behind what strangers do. Pure.
 */
import type { HttpExchange } from '../socket-server/http-exchange.ts';

export type Lane = 'probe' | 'callback' | 'request';

const PROBES = new Set(['/livez', '/readyz', '/healthz']);
const CALLBACKS = '/carriers/';
const CALLBACK = /^\/carriers\/[a-z0-9-]{1,32}\/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\/[a-z]{1,16}$/i;
/** Their bodies are read before anybody is known by them: no key stands in the header. */
const KEYLESS = '/api/embed/';

export function pathOf(url: string): string {
  const queryAt = url.indexOf('?');
  return queryAt < 0 ? url : url.slice(0, queryAt);
}

/** A probe with a body is none: it could be kept open. */
export function laneOf({ method, url }: Pick<HttpExchange, 'method' | 'url'>, hasBody: boolean): Lane {
  const path = pathOf(url);
  if (!hasBody && PROBES.has(path) && (method === 'GET' || method === 'HEAD')) return 'probe';
  if (path.startsWith(CALLBACKS) && CALLBACK.test(path) && (method === 'POST' || method === 'GET')) return 'callback';
  return 'request';
}

/**
 * Control could say nothing about it before its body is whole; until then it is kept here, and costs control nothing.
 */
export function waitsForBody(lane: Lane, url: string): boolean {
  return lane === 'callback' || url.startsWith(KEYLESS);
}
