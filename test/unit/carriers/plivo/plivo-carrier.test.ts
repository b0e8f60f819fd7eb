import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createServer, type Server } from 'node:net';
import { Agent } from 'undici';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { PersonaInput } from '../../../../bench/emulators/persona.ts';
import { type PlivoEmulator, startPlivoEmulator } from '../../../../bench/emulators/plivo/plivo-emulator.ts';
import { PATIENCE_MS } from '../../../../bench/harness/patience.ts';
import { systemClock } from '../../../../media/contract/clock.ts';
import type { Carrier, PlaceOutcome } from '../../../../src/carriers/carrier.ts';
import { createPlivoCarrier, plivoCarrierFactory } from '../../../../src/carriers/plivo/plivo-carrier.ts';
import { eventually } from '../../../support/eventually.ts';

const CREDENTIALS = { authId: 'MATEST', authToken: 'canary-secret-token' };
const TO = '+15550100001';
const PLACE = {
  callUuid: 'c1',
  to: TO,
  from: '+15550100000',
  ringTimeoutSeconds: 30,
  maxDurationSeconds: 1800,
  callbackBase: 'http://127.0.0.1:9/carriers/plivo/c1',
};

let emulator: PlivoEmulator;
let pool: Agent;

/** Whoever answers is waited for; see `hasty` for those that do not. */
const patient = { totalTimeoutMs: PATIENCE_MS, lateAnswerMs: PATIENCE_MS };
const hasty = { totalTimeoutMs: 150, lateAnswerMs: PATIENCE_MS };

function carrierAt(apiBase: string, credentials: Record<string, string> = CREDENTIALS, times = patient): Carrier {
  const deps = { dispatcher: pool, clock: systemClock, ...times };
  return plivoCarrierFactory(deps)(credentials, { apiBase });
}

async function placeWith(
  placement: NonNullable<PersonaInput['faults']>['placement'],
  times = patient,
): Promise<PlaceOutcome> {
  const faults = placement === undefined ? {} : { placement };
  emulator.setPersonas([{ kind: 'silent', name: 'P', number: TO, dialMs: 60_000, faults }]);
  return await carrierAt(emulator.apiBase, CREDENTIALS, times).place(PLACE);
}

beforeEach(async () => {
  pool = new Agent({ connect: { timeout: PATIENCE_MS } });
  emulator = await startPlivoEmulator({ ...CREDENTIALS, personas: [] });
});

afterEach(async () => {
  await pool.destroy();
  await emulator.close();
});

describe('placing a call', () => {
  it('is accepted with the request id, and the carrier got our callbacks and limits', async () => {
    const outcome = await placeWith(undefined);
    const [call] = emulator.calls();
    expect(outcome).toEqual({ kind: 'accepted', carrierRequestId: call!.requestUuid });
    expect(call!.placement).toMatchObject({
      from: '15550100000',
      to: '15550100001',
      answerUrl: `${PLACE.callbackBase}/answer#ct=2000&rt=8000&rc=3&rp=ct,rt`,
      ringUrl: `${PLACE.callbackBase}/ring#ct=2000&rt=8000&rc=3&rp=ct,rt`,
      hangupUrl: `${PLACE.callbackBase}/hangup#ct=2000&rt=8000&rc=3&rp=ct,rt`,
      ringTimeoutSeconds: 30,
      timeLimitSeconds: 1800,
    });
  });

  it.each([
    [401, undefined, { kind: 'refused', reason: 'carrier_auth', carrierCode: 'http_401' }],
    [400, 'from parameter is invalid.', { kind: 'refused', reason: 'carrier_rejected' }],
    [400, 'to parameter is invalid.', { kind: 'refused', reason: 'invalid_number' }],
    [400, 'Invalid destination number', { kind: 'refused', reason: 'invalid_number' }],
    [403, 'geo permission', { kind: 'refused', reason: 'carrier_rejected', carrierCode: 'http_403' }],
    [422, undefined, { kind: 'refused', reason: 'carrier_rejected' }],
    [400, 'Concurrency Limit Breached', { kind: 'refused', reason: 'carrier_rejected', carrierCode: 'http_400' }],
    [429, undefined, { kind: 'throttled', retryAfterSeconds: 1 }],
    [500, undefined, { kind: 'unknown', why: 'answer 500' }],
    [503, undefined, { kind: 'unknown', why: 'answer 503' }],
    [503, 'Concurrency Limit Breached', { kind: 'unknown', why: 'answer 503' }],
  ])('answered %i %s is %j', async (httpStatus, error, expected) => {
    const fault = { kind: 'status' as const, httpStatus, ...(error === undefined ? {} : { error }) };
    expect(await placeWith(fault)).toMatchObject(expected);
    expect(emulator.calls()).toHaveLength(0);
  });

  it('answered 429 with Retry-After 7 says 7, and is sent once', async () => {
    const outcome = await placeWith({ kind: 'status', httpStatus: 429, retryAfterSeconds: 7, times: 1 });
    expect(outcome).toEqual({ kind: 'throttled', retryAfterSeconds: 7 });
    expect(emulator.calls()).toHaveLength(0);
  });

  it('with a wrong token is refused as carrier_auth, and the secret is in no text', async () => {
    const outcome = await carrierAt(emulator.apiBase, { authId: 'MATEST', authToken: 'wrong-secret' }).place(PLACE);
    expect(outcome).toMatchObject({ kind: 'refused', reason: 'carrier_auth' });
    expect(JSON.stringify(outcome)).not.toContain('wrong-secret');
  });

  it('keeps secrets and whole numbers out of the message, in one line of at most 200 characters', async () => {
    const error = `token ${CREDENTIALS.authToken} and 15550100001\nare bad ${'x'.repeat(400)}`;
    const outcome = await placeWith({ kind: 'status', httpStatus: 400, error });
    if (outcome.kind !== 'refused') throw new Error(outcome.kind);
    expect(outcome.message).toMatch(/^Plivo answered 400: token \[secret\] and …01 are bad x+$/);
    expect(outcome.message.length).toBeLessThanOrEqual(200 + 'Plivo answered 400: '.length);
  });

  it('answered 500 is unknown, with no late acceptance, and was posted once', async () => {
    const outcome = await placeWith({ kind: 'status', httpStatus: 500, dials: true });
    if (outcome.kind !== 'unknown') throw new Error(outcome.kind);
    expect(await outcome.lateAcceptance).toBeNull();
    expect(emulator.calls()).toHaveLength(1);
  });

  it('reset by the carrier is unknown, with no late acceptance, and was posted once', async () => {
    const outcome = await placeWith({ kind: 'reset', dials: true });
    if (outcome.kind !== 'unknown') throw new Error(outcome.kind);
    expect(outcome.why).toContain('connection lost');
    expect(await outcome.lateAcceptance).toBeNull();
    expect(emulator.calls()).toHaveLength(1);
  });

  it('not answered in time is unknown, and a 201 that comes later settles it with the request id', async () => {
    const outcome = await placeWith({ kind: 'late', afterMs: 300 }, hasty);
    if (outcome.kind !== 'unknown') throw new Error(outcome.kind);
    expect(outcome.why).toBe('no answer within 150 ms');
    expect(await outcome.lateAcceptance).toBe(emulator.calls()[0]!.requestUuid);
    expect(emulator.calls()).toHaveLength(1);
  });

  it('never answered is unknown, and its late acceptance is null when the listening ends', async () => {
    const startedAtMs = performance.now();
    const outcome = await placeWith({ kind: 'silence' }, { ...hasty, lateAnswerMs: 600 });
    if (outcome.kind !== 'unknown') throw new Error(outcome.kind);
    expect(await outcome.lateAcceptance).toBeNull();
    expect(performance.now() - startedAtMs).toBeGreaterThanOrEqual(590);
    expect(emulator.calls()).toHaveLength(0);
  });

  it('to a port that refuses connections was never sent: refused as carrier_error', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    server.close();
    await once(server, 'close');
    expect(await carrierAt(`http://127.0.0.1:${port}`).place(PLACE)).toMatchObject({
      kind: 'refused',
      reason: 'carrier_error',
      carrierCode: 'ECONNREFUSED',
    });
  });

  describe('by a carrier that speaks no Plivo', () => {
    let server: Server;
    afterEach(() => void server.close());

    async function answering(raw: string): Promise<PlaceOutcome> {
      server = createServer((socket) => {
        socket.on('error', () => {});
        socket.once('data', () => socket.end(raw));
      }).listen(0, '127.0.0.1');
      await once(server, 'listening');
      return await carrierAt(`http://127.0.0.1:${(server.address() as AddressInfo).port}`).place(PLACE);
    }

    const http = (status: string, body: string): string =>
      `HTTP/1.1 ${status}\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`;

    it.each([
      [http('201 Created', 'not json'), 'unknown'],
      [http('201 Created', '{"request_uuid":""}'), 'unknown'],
      [http('201 Created', '{"request_uuid":["r1"]}'), 'accepted'],
      [http('302 Found', ''), 'refused'],
      [http('502 Bad Gateway', '<html>'), 'unknown'],
      ['rubbish', 'unknown'],
      ['', 'unknown'],
      ['HTTP/1.1 201 Created\r\nContent-Length: 100\r\n\r\n{"request_', 'unknown'],
    ])('answering %j is %s', async (raw, kind) => {
      expect((await answering(raw)).kind).toBe(kind);
    });
  });
});

describe('a call at the carrier', () => {
  it.each([
    ['queued', { dialMs: 600_000 }],
    ['ringing', { dialMs: 0, ringMs: 600_000 }],
  ] as const)('is %s, then gone once it was cancelled; cancelling again is fine', async (state, times) => {
    const carrier = carrierAt(emulator.apiBase);
    emulator.setPersonas([{ kind: 'silent', name: 'P', number: TO, ...times }]);
    const outcome = await carrier.place(PLACE);
    if (outcome.kind !== 'accepted') throw new Error(outcome.kind);
    const { carrierRequestId: id } = outcome;
    await eventually(state, async () => (await carrier.lookup(id)) === state);
    expect(await carrier.cancel(id)).toBe(true);
    expect(await carrier.lookup(id)).toBe('gone');
    expect(await carrier.cancel(id)).toBe(true);
    expect(await carrier.hangup(id)).toBe(true);
    expect(await carrier.hangup('never-was')).toBe(true);
  });

  it('cannot be ended or looked up with wrong credentials or without a network', async () => {
    const unauthorized = carrierAt(emulator.apiBase, { authId: 'MATEST', authToken: 'wrong' });
    expect(await unauthorized.hangup('x')).toBe(false);
    expect(await unauthorized.lookup('x')).toBe('unknown');
    const unreachable = carrierAt('http://127.0.0.1:9');
    expect(await unreachable.cancel('x')).toBe(false);
    expect(await unreachable.lookup('x')).toBe('unknown');
  });
});

describe('the carrier of a line', () => {
  it('names the credentials that are missing, without a network', () => {
    expect(createPlivoCarrier({}, { apiBase: null }).missingCredentials()).toEqual(['authId', 'authToken']);
    expect(createPlivoCarrier({ authId: 'a', authToken: '' }, { apiBase: null }).missingCredentials()).toEqual([
      'authToken',
    ]);
    expect(createPlivoCarrier(CREDENTIALS, { apiBase: null }).missingCredentials()).toEqual([]);
  });

  it('verifies nothing without a token', () => {
    const carrier = createPlivoCarrier({ authId: 'a' }, { apiBase: null });
    expect(
      carrier.verifyUpgrade({
        url: 'ws://x/y',
        headers: { 'x-plivo-signature-v3': 'a', 'x-plivo-signature-v3-nonce': '1' },
      }),
    ).toBe('bad');
  });
});
