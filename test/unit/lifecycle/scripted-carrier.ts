/**
 * A carrier that does what a test says and remembers what it was asked. Signed is what has `x-signed: yes`; what has
 * the same `x-nonce` is a copy.
 */
import { randomUUID } from 'node:crypto';
import type {
  Carrier,
  CarrierEnd,
  CarrierEvent,
  CarrierLookup,
  PlaceOutcome,
  PlaceRequest,
} from '../../../src/carriers/carrier.ts';

export interface ScriptedCarrier extends Carrier {
  /** Outcomes of the next placements, in order; then everything is accepted. */
  outcomes: (PlaceOutcome | Promise<PlaceOutcome> | Error)[];
  placed: PlaceRequest[];
  cancelled: string[];
  hungUp: string[];
  lookedUp: string[];
  redirected: string[];
  reachable: boolean;
  found: CarrierLookup;
  upgrade: 'ok' | 'bad' | 'unsupported';
  /** Runs inside `place`, before it answers. */
  whilePlacing: ((request: PlaceRequest) => Promise<void>) | null;
}

export function createScriptedCarrier(): ScriptedCarrier {
  const carrier: ScriptedCarrier = {
    name: 'plivo',
    outcomes: [],
    placed: [],
    cancelled: [],
    hungUp: [],
    lookedUp: [],
    redirected: [],
    reachable: true,
    found: 'gone',
    upgrade: 'ok',
    whilePlacing: null,
    missingCredentials: () => [],
    async place(request) {
      carrier.placed.push(request);
      await carrier.whilePlacing?.(request);
      const next = await carrier.outcomes.shift();
      if (next instanceof Error) throw next;
      return next ?? { kind: 'accepted', carrierRequestId: `req-${request.callUuid}` };
    },
    answerDocument: (stream) => ({ contentType: 'application/xml', body: `<stream>${stream.mediaUrl}</stream>` }),
    hangupDocument: () => ({ contentType: 'application/xml', body: '<hangup/>' }),
    verifyCallback: ({ headers }) => headers['x-signed'] === 'yes',
    signatureOf: ({ headers }) => headers['x-nonce'] ?? randomUUID(),
    verifyUpgrade: () => carrier.upgrade,
    parseCallback: (kind, { params }) => parse(kind, params),
    async hangup(carrierCallId) {
      carrier.hungUp.push(carrierCallId);
      return carrier.reachable;
    },
    async cancel(carrierRequestId) {
      carrier.cancelled.push(carrierRequestId);
      return carrier.reachable;
    },
    async redirect(carrierCallId, documentUrl) {
      carrier.redirected.push(`${carrierCallId} to ${documentUrl}`);
      return carrier.reachable;
    },
    async lookup(carrierCallId) {
      carrier.lookedUp.push(carrierCallId);
      return carrier.found;
    },
  };
  return carrier;
}

function parse(kind: string, params: Record<string, string>): CarrierEvent {
  const carrierCallId = params['id'] ?? 'leg-1';
  if (kind === 'ring') return { type: 'ringing', carrierCallId };
  if (kind === 'next') return { type: 'stream_over', carrierCallId };
  if (kind === 'answer') return { type: 'answered', carrierCallId };
  if (kind === 'hangup') {
    const end: CarrierEnd = {
      reason: (params['reason'] ?? null) as CarrierEnd['reason'],
      hangupBy: 'caller',
      sipCode: null,
      carrierCause: null,
      durationSeconds: null,
    };
    return { type: 'ended', carrierCallId, end };
  }
  if (kind === 'stream') return { type: 'stream', carrierCallId, state: 'started', detail: 'started' };
  return { type: 'ignored', why: kind };
}
