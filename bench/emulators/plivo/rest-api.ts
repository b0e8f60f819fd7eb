/**
 * The carrier's REST API as far as calls need it, on plain `node:http`: HTTP Basic, JSON or form bodies, Plivo's
 * statuses and error bodies. Called by the emulator for every request below `/v1/`. Paths end in a slash, as Plivo's
 * do.
 */
import { timingSafeEqual } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Clock, pause } from '../../../media/contract/clock.ts';
import type { PlacementFault } from '../persona.ts';
import type { EmulatedCall } from './emulated-call.ts';
import { checkPlacement, type Placement } from './placement.ts';

const MAX_BODY_BYTES = 65_536;
const RATE_WINDOW_MS = 5_000;
/** What Plivo's gateway says to wrong credentials: text, not JSON. */
const UNAUTHORIZED_TEXT = 'Could not verify your access level for that URL.\nYou have to login with proper credentials';

export interface RestApiDeps {
  authId: string;
  authToken: string;
  clock: Clock;
  newId(): string;
  ownNumbers: readonly string[] | null;
  /** Requests in any 5 s before 429; null: no limit (Plivo's is 300). */
  requestsPer5Seconds: number | null;
  /** Dials. */
  startCall(placement: Placement, requestUuid: string): void;
  /** The fault that the placement to this number meets, counted down where it is limited. */
  takePlacementFault(to: string): PlacementFault | null;
  find(uuid: string): EmulatedCall | null;
  ongoingCalls(): EmulatedCall[];
}

/** `body` null: none (204). */
interface Reply {
  status: number;
  body: Record<string, unknown> | null;
  headers?: Record<string, string>;
}

const NOT_FOUND: Reply = { status: 404, body: { error: 'not found' } };
const DONE: Reply = { status: 204, body: null };

export function createRestApi(
  deps: RestApiDeps,
): (request: IncomingMessage, response: ServerResponse) => Promise<void> {
  const root = `/v1/Account/${deps.authId}/`;
  const expected = Buffer.from(`Basic ${Buffer.from(`${deps.authId}:${deps.authToken}`).toString('base64')}`);
  let recentAtMs: number[] = [];

  return async (request, response) => {
    const given = Buffer.from(request.headers.authorization ?? '');
    if (given.length !== expected.length || !timingSafeEqual(given, expected)) {
      request.resume();
      const headers = {
        'content-type': 'text/html; charset=utf-8',
        'www-authenticate': 'Basic realm="Login Required"',
      };
      response.writeHead(401, headers).end(UNAUTHORIZED_TEXT);
      return;
    }
    const reply = await route(request);
    if (reply === null || response.destroyed) return;
    const text = reply.body === null ? '' : JSON.stringify({ api_id: deps.newId(), ...reply.body });
    const type = reply.body === null ? {} : { 'content-type': 'application/json' };
    response.writeHead(reply.status, { ...type, ...reply.headers }).end(text);
  };

  /** Null: there shall be no answer. */
  async function route(request: IncomingMessage): Promise<Reply | null> {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://emulator');
    const method = request.method ?? 'GET';
    const body = await readBody(request);
    if (!mayPass()) return { status: 429, body: { error: 'Too many requests' }, headers: { 'retry-after': '1' } };
    if (body === null) return { status: 400, body: { error: 'the request body could not be read' } };
    if (!pathname.startsWith(root)) return NOT_FOUND;

    // ``, `Call/`, `Call/{uuid}/`, `Call/{uuid}/Stream/`, `Request/{uuid}/`
    const segments = pathname.slice(root.length).split('/');
    // Plivo's own package leaves the last slash out of its GETs.
    if (segments.at(-1) === '') segments.pop();
    else if (method !== 'GET') return NOT_FOUND;
    const [resource, uuid, part] = segments;
    const found = uuid === undefined ? null : deps.find(uuid);
    const call = found === null || found.isOver ? null : found;
    if (resource === undefined && method === 'GET') return { status: 200, body: { auth_id: deps.authId, state: null } };
    switch (`${method} ${resource}${uuid === undefined ? '' : '/{uuid}'}${part === undefined ? '' : `/${part}`}`) {
      case 'POST Call':
        return await place(body, request);
      case 'GET Call':
        if (searchParams.get('status') !== 'live') return NOT_FOUND;
        return { status: 200, body: { calls: deps.ongoingCalls().map((live) => live.callUuid) } };
      case 'GET Call/{uuid}': {
        const details = call === null ? null : detailsOf(call, searchParams.get('status'));
        return details === null ? NOT_FOUND : { status: 200, body: details };
      }
      case 'POST Call/{uuid}':
        return transfer(call, body);
      case 'DELETE Call/{uuid}':
      case 'DELETE Request/{uuid}':
        if (call === null || (resource === 'Request' && call.requestUuid !== uuid)) return NOT_FOUND;
        call.hangUpByApi();
        return DONE;
      case 'DELETE Call/{uuid}/Stream':
        if (call === null || !call.hasStream) return NOT_FOUND;
        call.stopStream();
        return DONE;
      default:
        return NOT_FOUND;
    }
  }

  function mayPass(): boolean {
    if (deps.requestsPer5Seconds === null) return true;
    const nowMs = deps.clock.nowMs();
    recentAtMs = recentAtMs.filter((atMs) => atMs > nowMs - RATE_WINDOW_MS);
    if (recentAtMs.length >= deps.requestsPer5Seconds) return false;
    recentAtMs.push(nowMs);
    return true;
  }

  async function place(body: Record<string, unknown>, request: IncomingMessage): Promise<Reply | null> {
    const placements = checkPlacement(body, deps.ownNumbers);
    if ('error' in placements) return { status: 400, body: placements };
    const requestUuids = placements.map(() => deps.newId());
    const requestUuid = requestUuids.length === 1 ? requestUuids[0] : requestUuids;
    const accepted: Reply = { status: 201, body: { message: 'call fired', request_uuid: requestUuid } };
    const fault = deps.takePlacementFault(placements[0]!.to);
    if (fault === null || fault.kind === 'late' || fault.dials) {
      for (const [i, placement] of placements.entries()) deps.startCall(placement, requestUuids[i]!);
    }
    if (fault === null) return accepted;
    switch (fault.kind) {
      case 'status': {
        const { httpStatus, error, retryAfterSeconds } = fault;
        const headers: Record<string, string> = {};
        if (retryAfterSeconds !== undefined) headers['retry-after'] = String(retryAfterSeconds);
        return { status: httpStatus, body: { error: error ?? `emulated fault ${httpStatus}` }, headers };
      }
      case 'late':
        await pause(deps.clock, fault.afterMs);
        return accepted;
      case 'reset':
        request.socket.resetAndDestroy();
        return null;
      case 'silence':
        return null;
    }
  }

  function transfer(call: EmulatedCall | null, body: Record<string, unknown>): Reply {
    if (call === null || call.state !== 'in-progress') return NOT_FOUND;
    const url = body['aleg_url'];
    if (typeof url !== 'string' || !URL.canParse(url)) {
      return { status: 400, body: { error: 'aleg_url parameter is invalid.' } };
    }
    call.transfer(url, body['aleg_method'] === 'GET' ? 'GET' : 'POST');
    return { status: 202, body: { message: 'call transfered', call_uuids: [call.callUuid] } };
  }
}

function detailsOf(call: EmulatedCall, status: string | null): Record<string, unknown> | null {
  const common = {
    call_uuid: call.callUuid,
    direction: 'outbound',
    from: call.placement.from,
    to: call.placement.to,
    caller_name: '',
  };
  if (status === 'queued') {
    return call.state === 'queued' ? { ...common, call_status: 'queued', request_uuid: call.requestUuid } : null;
  }
  if (status !== 'live' || call.state === 'queued') return null;
  return {
    ...common,
    call_status: call.state,
    request_uuid: call.requestUuid,
    session_start: new Date(call.truth.placedAtEpochMs).toISOString(),
  };
}

/** JSON object or form; null when it is neither, or too long. */
async function readBody(request: IncomingMessage): Promise<Record<string, unknown> | null> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of request) {
      bytes += chunk.length;
      if (bytes > MAX_BODY_BYTES) return null;
      chunks.push(chunk);
    }
  } catch {
    return null;
  }
  const text = Buffer.concat(chunks).toString('utf8');
  if (text.trim() === '') return {};
  if (/^application\/x-www-form-urlencoded/i.test(request.headers['content-type'] ?? '')) {
    return Object.fromEntries(new URLSearchParams(text));
  }
  try {
    const parsed: unknown = JSON.parse(text);
    if (typeof parsed === 'string') return {};
    return typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed) ? { ...parsed } : null;
  } catch {
    return null;
  }
}
