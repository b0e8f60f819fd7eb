/**
 * Where carriers report: `/carriers/{carrier}/{callUuid}/{answer|next|ring|hangup|stream}`. A report counts only with
 * the carrier's signature over the public address that it dialled. Registered by the API server; knows no carrier's
 * format. A call that is unknown or over is told to hang up, whoever asks. A copy of a callback that was acted on
 * changes nothing.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import { formatAtCarrier } from '../../../media/contract/carriers.ts';
import type { Clock } from '../../../media/contract/clock.ts';
import { VOUCHED_HEADER, type Vouched } from '../../../media/contract/vouched.ts';
import { readOwnCall } from '../../calls/call-row.ts';
import { ActedOnBefore, noteInLog, wasActedOn } from '../../carriers/acted-on.ts';
import { callbackBaseOf, nextAddressOf } from '../../carriers/callback-address.ts';
import type { CallbackRequest, Carrier, CarrierEvent } from '../../carriers/carrier.ts';
import type { CarrierRegistry } from '../../carriers/registry.ts';
import { CarrierReport, mayTalk, type WantedStream } from '../../lifecycle/carrier-report.ts';
import type { DialledCall, DialledCalls } from '../../lifecycle/dialled-calls.ts';
import type { LineCarriers } from '../../lifecycle/line-carriers.ts';
import { givenToken, type StreamTokens, sha256OfToken } from '../../lifecycle/stream-token.ts';
import type { Transitions } from '../../lifecycle/transition.ts';
import type { CallPlaces, LandingCall } from '../../nodes/call-places.ts';
import type { Database } from '../../store/database.ts';

export interface CarrierRoutesDeps {
  database: Database;
  clock: Clock;
  log: Logger;
  transitions: Transitions;
  lineCarriers: LineCarriers;
  dialledCalls: Pick<DialledCalls, 'of' | 'tokenGiven'>;
  registry: Pick<CarrierRegistry, 'withoutCredentials'>;
  streamTokens: StreamTokens;
  /** What carriers dial; no slash at its end. */
  publicUrl: string;
  /** See `CallPlaces`. Absent: every stream comes to the public address. */
  places?: Pick<CallPlaces, 'streamBaseOf'>;
  media: {
    /** What was said about the call's lost stream is written then, wherever it was carried; or it took too long. */
    lastWord(callUuid: string): Promise<void>;
    /** Processes that take streams now. */
    ready(): number;
  };
}

interface CallbackParams {
  carrier: string;
  callUuid: string;
  kind: string;
}

type Document = { contentType: string; body: string };

/** A callback that was verified. */
interface Verified {
  call: DialledCall;
  carrier: Carrier;
  kind: string;
  /** See `Carrier.signatureOf`. */
  signature: string;
}

/** With a single media process the carrier's next question waits until that one can have been started again. */
const LONE_PROCESS_PAUSE_SECONDS = 3;

const BODY_LIMIT_BYTES = 64 * 1024;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
/** One log line a call for forged callbacks; more calls than this are not remembered. */
const MAX_REMEMBERED_FORGERIES = 1_000;

export function registerCarrierRoutes(app: FastifyInstance, deps: CarrierRoutesDeps): void {
  const forged = new Set<string>();

  app.register((scope, _options, done) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', { parseAs: 'string', bodyLimit: BODY_LIMIT_BYTES }, (_request, body, done) =>
      done(null, body),
    );
    scope.route({
      method: ['GET', 'POST'],
      url: '/carriers/:carrier/:callUuid/:kind',
      exposeHeadRoute: false,
      handler: (request, reply) => receive(request as FastifyRequest<{ Params: CallbackParams }>, reply),
    });
    done();
  });

  async function receive(
    request: FastifyRequest<{ Params: CallbackParams }>,
    reply: FastifyReply,
  ): Promise<FastifyReply> {
    const { carrier: name, callUuid, kind } = request.params;
    const anyCarrier = deps.registry.withoutCredentials(name);
    if (anyCarrier === undefined) return reply.code(404).send();
    const wantsDocument = kind === 'answer' || kind === 'next';

    const call = UUID.test(callUuid) ? await deps.dialledCalls.of(callUuid.toLowerCase()) : undefined;
    if (call === undefined || call.carrier !== name) {
      return wantsDocument ? sendDocument(reply, anyCarrier.hangupDocument()) : reply.code(200).send();
    }
    const carrier = await deps.lineCarriers.of(call);
    const callback = callbackOf(request, deps.publicUrl);
    if (!carrier.verifyCallback(callback)) {
      if (!forged.has(callUuid) && forged.size < MAX_REMEMBERED_FORGERIES) {
        forged.add(callUuid);
        deps.log.warn({ callUuid, carrier: name, kind }, "a callback without the carrier's signature was refused");
      }
      return reply.code(403).send();
    }
    const verified = { call, carrier, kind, signature: carrier.signatureOf(callback) };
    let isCopy = false;
    const document = await observed(verified, carrier.parseCallback(kind, callback)).catch((error: unknown) => {
      if (!(error instanceof ActedOnBefore)) throw error;
      isCopy = true;
      deps.log.debug({ callUuid, carrier: name, kind }, 'a copy of a callback was ignored');
      // The carrier asks again when it has not got our answer: it is told what stands now.
      return wantsDocument ? openStream(callUuid, carrier) : null;
    });
    // Anybody may have a copy.
    if (!isCopy) reply.header(VOUCHED_HEADER, 'carrier' satisfies Vouched);
    if (document !== null) return sendDocument(reply, document);
    return wantsDocument ? sendDocument(reply, carrier.hangupDocument()) : reply.code(200).send();
  }

  /** The stream that waits to be opened; null: there is none. */
  async function openStream(callUuid: string, carrier: Carrier): Promise<Document | null> {
    const call = await readOwnCall(deps.database, callUuid);
    if (call === undefined || !mayTalk(call) || call.mediaTokenUsedAt !== null) return null;
    const token = await givenToken(deps.database, call, deps.streamTokens);
    return streamDocument(call, carrier, token);
  }

  /** Resolves with the document that the carrier must follow, or null when it needs none. */
  async function observed(callback: Verified, event: CarrierEvent): Promise<Document | null> {
    const { callUuid } = callback.call;
    const { apply } = deps.transitions;
    switch (event.type) {
      case 'answered':
        return answered(callback, event.carrierCallId);
      case 'stream_over':
        return streamOver(callback, event.carrierCallId);
      case 'ringing': {
        const { carrierCallId } = event;
        await apply(callUuid, { type: 'carrier.ringing', carrierCallId }, reportOf(callback, 'none'));
        return null;
      }
      case 'ended': {
        // Where media still talks, the end waits for its last word; the carrier does not wait for ours.
        const { carrierCallId, end } = event;
        await apply(callUuid, { type: 'carrier.ended', carrierCallId, end }, reportOf(callback, 'none'));
        return null;
      }
      case 'stream':
        await note(callback, { kind: 'carrier.stream', data: { state: event.state, detail: event.detail } });
        return null;
      case 'machine':
        await note(callback, { kind: 'carrier.machine', data: { answeredBy: event.answeredBy } });
        return null;
      case 'ignored':
        deps.log.debug({ callUuid, kind: callback.kind, why: event.why }, 'a callback said nothing that matters');
        return null;
    }
  }

  function reportOf({ signature }: Verified, wanted: WantedStream): CarrierReport {
    return new CarrierReport(deps, signature, wanted);
  }

  async function answered(callback: Verified, carrierCallId: string): Promise<Document> {
    const { callUuid } = callback.call;
    const report = reportOf(callback, 'once');
    const applied = await deps.transitions.apply(callUuid, { type: 'carrier.answered', carrierCallId }, report);
    const assignedRun = typeof applied === 'string' ? null : applied.call.assignedRun;
    return documentFor(callback, report, { assignedRun });
  }

  /** Nobody has ended the call, but its stream is gone: it goes on in whatever process takes the next one. */
  async function streamOver(callback: Verified, carrierCallId: string): Promise<Document> {
    const { callUuid } = callback.call;
    if (await wasActedOn(deps.database, callUuid, callback.signature)) throw new ActedOnBefore();
    await deps.media.lastWord(callUuid);
    const report = reportOf(callback, 'again');
    const applied = await deps.transitions.apply(callUuid, { type: 'carrier.stream_over', carrierCallId }, report);
    if (report.lostTooOften !== null) {
      await deps.transitions.apply(callUuid, { type: 'end.asked', reason: report.lostTooOften, hangupBy: 'platform' });
    }
    // Not where it was: that may be what is broken.
    const avoidRun = typeof applied === 'string' ? null : applied.call.ownerRun;
    return documentFor(callback, report, { assignedRun: null, avoidRun });
  }

  function documentFor(
    { call, carrier }: Verified,
    { token }: CarrierReport,
    where: Omit<LandingCall, 'callUuid'>,
  ): Document {
    if (token === null) return carrier.hangupDocument();
    deps.dialledCalls.tokenGiven(sha256OfToken(token), call);
    return streamDocument({ callUuid: call.callUuid, ...where }, carrier, token);
  }

  function streamDocument(call: LandingCall, carrier: Carrier, token: string): Document {
    const { callUuid } = call;
    const streamBase = deps.places?.streamBaseOf(call) ?? deps.publicUrl.replace(/^http/, 'ws');
    const base = callbackBaseOf(deps.publicUrl, carrier.name, callUuid);
    return carrier.answerDocument({
      mediaUrl: `${streamBase}/media/${carrier.name}/${token}`,
      statusUrl: `${base}/stream`,
      nextUrl: nextAddressOf(base),
      pauseSeconds: deps.media.ready() > 1 ? 0 : LONE_PROCESS_PAUSE_SECONDS,
      format: formatAtCarrier(carrier.name),
    });
  }

  function note({ call, signature }: Verified, line: { kind: string; data: object }): Promise<void> {
    return noteInLog(deps.database, call.callUuid, signature, { ...line, atEpochMs: deps.clock.epochMs() });
  }
}

function sendDocument(reply: FastifyReply, document: Document): FastifyReply {
  return reply.code(200).header('content-type', document.contentType).send(document.body);
}

/** The request as the carrier signed it: the public address, not the one that a proxy passed on. */
function callbackOf(request: FastifyRequest, publicUrl: string): CallbackRequest {
  const method = request.method === 'GET' ? 'GET' : 'POST';
  const text = method === 'POST' && typeof request.body === 'string' ? request.body : '';
  const query = request.url.indexOf('?');
  const form = method === 'POST' ? text : query < 0 ? '' : request.url.slice(query + 1);
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(request.headers)) {
    if (value !== undefined) headers[name] = Array.isArray(value) ? value.join(',') : value;
  }
  return {
    method,
    url: `${publicUrl}${request.raw.url ?? request.url}`,
    headers,
    params: Object.fromEntries(new URLSearchParams(form)),
  };
}
