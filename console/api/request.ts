/**
 * How the console asks: the generated client for the documented operations, by the door for people
 * (`/api/console/w/{enterprise}/…`), and `ask` for the console's own. Errors are `ParleyError`, with the service's
 * words, or `TypeError` where the service could not be reached.
 */
import { signal } from '@preact/signals';
import { createParleyClient, type ParleyClient, ParleyError } from '../../clients/typescript/src/client.ts';
import { doubts, isLost, session } from './session.ts';

/** False while requests do not reach the service. */
export const isReachable = signal(true);

const DEVELOPER = '/api/developer/';
/** What only the operator may: of no workspace, whatever its path holds. */
const OPERATORS = /^\/api\/developer\/(workspaces|prices|service)(\/|\?|$)/;

/** The same operation at the door for people. */
export function consolePath(enterprise: string, path: string): string {
  if (OPERATORS.test(path)) return `/api/console/operator/${path.slice(DEVELOPER.length)}`;
  const own = `/api/console/w/${encodeURIComponent(enterprise)}/`;
  if (path.startsWith(DEVELOPER)) return own + path.slice(DEVELOPER.length);
  return path === '/api/outbound-call' ? `${own}outbound-call` : path;
}

/** A page asked for what the person may no longer, or never might. */
const TAKEN_AWAY = new Set(['role_insufficient', 'workspace_not_found', 'operator_only']);

/** `fetch` that tells the shell when the session is over and when nobody answers. */
export async function consoleFetch(path: string, init: RequestInit = {}): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(path, { credentials: 'same-origin', redirect: 'follow', ...init });
  } catch (error) {
    if (!(error instanceof DOMException && error.name === 'AbortError')) isReachable.value = false;
    throw error;
  }
  isReachable.value = true;
  if (response.status === 401 && session.peek() && !path.startsWith('/api/console/session')) isLost.value = true;
  if (TAKEN_AWAY.has(response.headers.get('x-error-code') ?? '')) doubts.value++;
  return response;
}

const clients = new Map<string, ParleyClient>();

/** The documented operations, for one workspace. Reads are repeated where the service says that they may be. */
export function clientOf(enterprise: string): ParleyClient {
  const known = clients.get(enterprise);
  if (known !== undefined) return known;
  const client = createParleyClient({
    baseUrl: '',
    longestWaitMs: 5_000,
    fetch: (path, init) => consoleFetch(consolePath(enterprise, String(path)), init),
  });
  clients.set(enterprise, client);
  return client;
}

interface Asked {
  method?: string;
  body?: unknown;
  signal?: AbortSignal;
}

/** One of the console's own operations, below `/api/console/`. Undefined where the answer is empty. */
export async function ask<Data>(path: string, { method = 'GET', body, signal }: Asked = {}): Promise<Data> {
  const response = await consoleFetch(`/api/console/${path}`, {
    method,
    ...(body === undefined
      ? {}
      : { body: JSON.stringify(body), headers: { 'content-type': 'application/json', accept: 'application/json' } }),
    ...(signal === undefined ? {} : { signal }),
  });
  const isJson = response.headers.get('content-type')?.includes('json') ?? false;
  const data: unknown = isJson ? await response.json() : undefined;
  if (!response.ok) throw new ParleyError(response.status, response.headers, data);
  return data as Data;
}

/** `w/acme/…` of the console's own operations. */
export const ofWorkspace = (enterprise: string, path: string): string => `w/${encodeURIComponent(enterprise)}/${path}`;
