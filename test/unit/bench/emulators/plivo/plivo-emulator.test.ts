import { afterEach, describe, expect, it } from 'vitest';
import type { EmulatorEvent } from '../../../../../bench/emulators/emulator-event.ts';
import type { PersonaInput } from '../../../../../bench/emulators/persona.ts';
import { type PlivoEmulator, startPlivoEmulator } from '../../../../../bench/emulators/plivo/plivo-emulator.ts';
import { verifyUpgradeV3, verifyV3 } from '../../../../../src/carriers/plivo/signature-v3.ts';
import { eventually } from '../../../../support/eventually.ts';
import { type GatewayFake, type GatewayFakeOptions, startGatewayFake, streamXml } from '../gateway-fake.ts';

const AUTH_ID = 'MAXXXXXXXXXXXXXXXXXX';
const AUTH_TOKEN = 'token-of-the-test';
const NUMBER = '+15550100001';
const FRAME = Buffer.alloc(160, 0x10).toString('base64');

let emulator: PlivoEmulator;
let gateway: GatewayFake;
let events: EmulatorEvent[];

async function start(persona: Partial<PersonaInput> = {}, options: GatewayFakeOptions = {}): Promise<void> {
  events = [];
  gateway = await startGatewayFake(options);
  emulator = await startPlivoEmulator({
    authId: AUTH_ID,
    authToken: AUTH_TOKEN,
    personas: [{ kind: 'tone', name: 'P', number: NUMBER, ringMs: 20, dialMs: 5, ...persona } as PersonaInput],
    onEvent: (event) => events.push(event),
  });
}

afterEach(async () => {
  await emulator.close();
  await gateway.close();
});

async function api(
  method: string,
  path: string,
  body?: unknown,
  token = AUTH_TOKEN,
): Promise<{ status: number; body: Record<string, unknown>; text: string }> {
  const response = await fetch(`${emulator.apiBase}/v1/Account/${AUTH_ID}/${path}`, {
    method,
    headers: {
      authorization: `Basic ${Buffer.from(`${AUTH_ID}:${token}`).toString('base64')}`,
      'content-type': 'application/json',
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, text, body: text.startsWith('{') ? JSON.parse(text) : {} };
}

async function place(extra: Record<string, unknown> = {}): Promise<string> {
  const placed = await api('POST', 'Call/', {
    from: '15550100000',
    to: NUMBER.slice(1),
    answer_url: `${gateway.base}/answer`,
    ring_url: `${gateway.base}/ring`,
    hangup_url: `${gateway.base}/hangup`,
    ...extra,
  });
  expect(placed.status).toBe(201);
  return placed.body['request_uuid'] as string;
}

describe('REST API', () => {
  it('answers 401 to a wrong token, 404 to an unknown path and to one without its last slash', async () => {
    await start();
    expect((await api('POST', 'Call/', {}, 'wrong')).status).toBe(401);
    expect((await api('GET', 'Message/')).status).toBe(404);
    expect((await api('POST', 'Call', {})).status).toBe(404);
  });

  it.each([
    [{ to: undefined }, 'to parameter not present'],
    [{ from: 'x' }, 'from parameter is invalid.'],
    [{ to: '12' }, 'to parameter is invalid.'],
    [{ answer_url: 'nowhere' }, 'answer_url parameter is invalid.'],
    [{ ring_method: 'PUT' }, 'ring_method parameter is invalid.'],
    [{ time_limit: 86_401 }, 'time_limit parameter is invalid.'],
    [{ machine_detection: 'perhaps' }, 'machine_detection parameter is invalid.'],
  ])('answers 400 to %j, in words', async (change, error) => {
    await start();
    const body = { from: '15550100000', to: '15550100001', answer_url: 'http://127.0.0.1:1/answer', ...change };
    const answer = await api('POST', 'Call/', body);
    expect(answer).toMatchObject({ status: 400, body: { error } });
    expect(answer.body['api_id']).toMatch(/^[0-9a-f-]{36}$/);
    expect(emulator.calls()).toHaveLength(0);
  });

  it('shows a call as queued, then live, then not at all', async () => {
    await start({ dialMs: 60_000 });
    const uuid = await place();
    expect(await api('GET', `Call/${uuid}/?status=queued`)).toMatchObject({
      status: 200,
      body: { call_status: 'queued' },
    });
    expect((await api('GET', `Call/${uuid}/?status=live`)).status).toBe(404);
    emulator.setPersonas([{ kind: 'silent', name: 'Q', number: NUMBER, dialMs: 0, ringMs: 60_000 }]);
    const ringing = await place();
    await gateway.seen('ring');
    expect(await api('GET', `Call/${ringing}/?status=live`)).toMatchObject({
      status: 200,
      body: { call_status: 'ringing' },
    });
    expect((await api('DELETE', `Request/${ringing}/`)).status).toBe(204);
    expect((await api('GET', `Call/${ringing}/?status=live`)).status).toBe(404);
    expect((await api('DELETE', `Call/${ringing}/`)).status).toBe(404);
    expect((await gateway.seen('hangup')).params).toMatchObject({ CallStatus: 'cancel', HangupCauseCode: '1000' });
  });
});

describe('a call', () => {
  it('rings, fetches its document, streams, and ends with one signed hang-up callback', async () => {
    await start();
    const uuid = await place();
    expect((await gateway.seen('ring')).params).toMatchObject({ Event: 'Ring', CallStatus: 'ringing', CallUUID: uuid });
    const answer = await gateway.seen('answer');
    expect(answer.params).toMatchObject({ Event: 'StartApp', CallStatus: 'in-progress', To: '15550100001' });
    const socket = await gateway.nextSocket();
    expect(await socket.next('start')).toMatchObject({
      event: 'start',
      sequenceNumber: 1,
      start: { callId: uuid, accountId: AUTH_ID, mediaFormat: { encoding: 'audio/x-mulaw', sampleRate: 8000 } },
    });
    const { media, ...second } = await socket.next('media');
    expect(second).toMatchObject({ event: 'media', sequenceNumber: 2 });
    expect(media).toMatchObject({ track: 'inbound', chunk: 1, timestamp: expect.stringMatching(/^\d{13}$/) });
    expect(Buffer.from((media as { payload: string }).payload, 'base64')).toHaveLength(160);
    expect((await api('DELETE', `Call/${uuid}/`)).status).toBe(204);
    const hangup = await gateway.seen('hangup');
    expect(hangup.params).toMatchObject({
      Event: 'Hangup',
      CallStatus: 'completed',
      HangupCauseCode: '4000',
      HangupSource: 'API Request',
      // Of whole seconds begun: one, unless this machine is slow.
      Duration: expect.stringMatching(/^[1-9]\d*$/),
      BillDuration: expect.stringMatching(/^(60|120|180|240|300)$/),
    });
    await gateway.seen('stream', 2);
    expect(gateway.callbacks.map((callback) => callback.kind).filter((kind) => kind === 'hangup')).toHaveLength(1);
    const nonces = new Set<string>();
    for (const { method, url, params, headers } of gateway.callbacks) {
      expect(verifyV3(AUTH_TOKEN, { method: method as 'POST', url, params }, headers)).toBe(true);
      nonces.add(headers['x-plivo-signature-v3-nonce']!);
    }
    expect(nonces.size).toBe(gateway.callbacks.length);
    expect(verifyUpgradeV3(AUTH_TOKEN, gateway.upgrades[0]!.url, gateway.upgrades[0]!.headers)).toBe(true);
    expect(events.map((event) => event.event)).toEqual([
      'placed',
      'ringing',
      'answered',
      'stream_open',
      'hangup',
      'stream_closed',
    ]);
  });

  it.each([
    ['busy', 'busy', '3010', 0],
    ['no_answer', 'no-answer', '3000', 1],
    ['declined', 'failed', '3110', 1],
    ['rejected', 'failed', '3020', 1],
    ['unreachable', 'failed', '2010', 0],
    ['invalid_number', 'failed', '3050', 0],
    ['congestion', 'failed', '3090', 0],
    ['concurrency', 'failed', '5030', 0],
  ] as const)(
    'to a phone that is %s ends as %s with code %s after %i ring callbacks',
    async (outcome, status, code, rings) => {
      await start({ outcome });
      await place();
      expect((await gateway.seen('hangup')).params).toMatchObject({
        CallStatus: status,
        HangupCauseCode: code,
        Duration: '0',
      });
      expect(gateway.callbacks.filter((callback) => callback.kind === 'ring')).toHaveLength(rings);
      expect(gateway.callbacks.filter((callback) => callback.kind === 'answer')).toHaveLength(0);
    },
  );

  it('rings no longer than ring_timeout', async () => {
    await start({ outcome: 'no_answer', ringMs: 60_000 });
    await place({ ring_timeout: 1 });
    expect((await gateway.seen('hangup')).params).toMatchObject({ CallStatus: 'timeout', HangupCauseCode: '6010' });
  });

  it.each([
    [{ status: 500, body: '' }, '7011'],
    [{ body: '<Response><Nonsense/></Response>' }, '8011'],
    [{ type: 'text/html', body: '<Response/>' }, '8011'],
    [{ body: '<Response/>' }, '4010'],
    [{ body: '<Response><Hangup/></Response>' }, '4000'],
  ])('whose answer URL says %j ends with %s', async (document, code) => {
    await start({}, { document: () => document });
    await place();
    expect((await gateway.seen('hangup')).params['HangupCauseCode']).toBe(code);
  });

  it('takes the fallback URL when the answer URL fails, and follows a redirect', async () => {
    await start(
      {},
      {
        document: (path, _media, base) => {
          if (path === 'answer') return { status: 502, body: '' };
          if (path === 'fallback') return { body: `<Response><Redirect>${base}/again</Redirect></Response>` };
          return { body: '<Response><Hangup/></Response>' };
        },
      },
    );
    await place({ fallback_url: `${gateway.base}/fallback` });
    expect((await gateway.seen('again')).params['Event']).toBe('Redirect');
    expect((await gateway.seen('hangup')).params['HangupCauseCode']).toBe('4000');
  });

  it('runs the XML after the stream when the gateway closes the socket, and 4010 when there is none', async () => {
    await start({}, { document: (_path, media, base) => ({ body: streamXml(media, base, '') }) });
    await place();
    (await gateway.nextSocket()).close();
    expect((await gateway.seen('hangup')).params['HangupCauseCode']).toBe('4010');
  });

  it('follows a transfer only when its stream has ended', async () => {
    await start(
      {},
      {
        document: (path, media, base) => ({
          body: path === 'moved' ? '<Response><Hangup/></Response>' : streamXml(media, base),
        }),
      },
    );
    const uuid = await place();
    await gateway.nextSocket();
    expect(await api('POST', `Call/${uuid}/`, { legs: 'aleg', aleg_url: `${gateway.base}/moved` })).toMatchObject({
      status: 202,
      body: { message: 'call transfered', call_uuids: [uuid] },
    });
    expect(gateway.callbacks.some((callback) => callback.kind === 'moved')).toBe(false);
    expect((await api('DELETE', `Call/${uuid}/Stream/`)).status).toBe(204);
    expect((await gateway.seen('moved')).params['Event']).toBe('Transfer');
    await gateway.seen('hangup');
  });

  it('dials the media socket three times before it gives up, and says which answers it got', async () => {
    await start({}, { refuse: () => 403 });
    const uuid = await place();
    const failed = await gateway.seen('stream');
    expect(failed.params).toMatchObject({ Event: 'failed', StatusReason: 'connection_failed' });
    expect(gateway.upgrades).toHaveLength(3);
    expect(emulator.find(uuid)!.truth.refusedUpgrades).toEqual(['403', '403', '403']);
    await gateway.seen('hangup');
  });
});

describe('the media socket', () => {
  it('plays agent audio, answers its checkpoint after it, and records both sides', async () => {
    await start();
    const uuid = await place();
    const socket = await gateway.nextSocket();
    const { streamId } = await socket.next('media');
    for (let i = 0; i < 5; i++)
      socket.send({
        event: 'playAudio',
        media: { contentType: 'audio/x-mulaw', sampleRate: 8000, payload: FRAME },
      });
    socket.send({ event: 'checkpoint', streamId, name: 'cp-1' });
    expect(await socket.next('playedStream')).toMatchObject({ streamId, name: 'cp-1' });
    const { truth } = emulator.find(uuid)!;
    expect(truth.agentPlayedMs).toBe(100);
    expect(truth.protocolFaults).toEqual([]);
    expect(truth.firstAgentSampleAtEpochMs!).toBeGreaterThanOrEqual(truth.answeredAtEpochMs!);
    const agent = truth.timeline!.side('agent');
    expect(agent.filter((byte) => byte === 0x10)).toHaveLength(800);
    expect(truth.timeline!.side('callee').some((byte) => (~byte & 0x7f) > 0x40)).toBe(true);
    const wav = Buffer.from(
      await (await fetch(`${emulator.apiBase}/emulator/calls/${uuid}/recording.wav`)).arrayBuffer(),
    );
    expect(wav.readUInt16LE(22)).toBe(2);
    expect(wav.readUInt32LE(24)).toBe(8_000);
    expect(wav.length).toBeGreaterThanOrEqual(44 + agent.length * 4);
  });

  it('drops queued audio at a clear, tells clearedAudio, and never answers the dropped checkpoint', async () => {
    await start();
    const uuid = await place();
    const socket = await gateway.nextSocket();
    const { streamId } = await socket.next('media');
    // Half a minute: more than any machine lets pass before the clear.
    const second = Buffer.alloc(8_000, 0x10).toString('base64');
    for (let seconds = 0; seconds < 30; seconds++) {
      socket.send({
        event: 'playAudio',
        media: { contentType: 'audio/x-mulaw', sampleRate: 8000, payload: second },
      });
    }
    socket.send({ event: 'checkpoint', streamId, name: 'never' });
    await eventually('some of it', () => emulator.find(uuid)!.truth.agentPlayedMs > 0);
    socket.send({ event: 'clearAudio', streamId });
    expect(await socket.next('clearedAudio')).toMatchObject({ streamId });
    socket.send({ event: 'checkpoint', streamId, name: 'after' });
    expect((await socket.next('playedStream'))['name']).toBe('after');
    const { truth } = emulator.find(uuid)!;
    expect(truth.checkpointsDropped).toBe(1);
    expect(truth.clears[0]!.droppedMs + truth.agentPlayedMs).toBe(30_000);
    expect(truth.clears[0]!.lastAgentSampleAtEpochMs!).toBeLessThanOrEqual(truth.clears[0]!.receivedAtEpochMs);
    expect(truth.lastAgentSampleAtEpochMs!).toBeLessThanOrEqual(truth.clears[0]!.receivedAtEpochMs);
  });

  it.each([
    ['{"event":"playAudio","media":{"contentType":"audio/x-l16","sampleRate":8000,"payload":""}}', /x-l16/],
    [
      '{"event":"playAudio","media":{"contentType":"audio/x-mulaw;rate=8000","sampleRate":8000,"payload":""}}',
      /rate=8000/,
    ],
    ['{"event":"playAudio","media":{"contentType":"audio/x-mulaw","sampleRate":"8000","payload":""}}', /"8000"/],
    ['{"event":"playAudio","media":{"contentType":"audio/x-mulaw","sampleRate":8000,"payload":"*"}}', /base64/],
    ['{"event":"checkpoint","streamId":"other","name":"a"}', /stream's id/],
    ['{"event":"clearAudio"}', /stream's id/],
    ['{"event":"mark"}', /"mark"/],
    ['not json', /JSON/],
  ])('notes what the gateway sends against the protocol: %s', async (message, fault) => {
    await start();
    const uuid = await place();
    const socket = await gateway.nextSocket();
    socket.send(message);
    socket.send('{"event":"sendDTMF","dtmf":"42#"}');
    while (emulator.find(uuid)!.truth.digits === '') await socket.next('media');
    expect(emulator.find(uuid)!.truth.digits).toBe('42#');
    expect(emulator.find(uuid)!.truth.protocolFaults).toHaveLength(1);
    expect(emulator.find(uuid)!.truth.protocolFaults[0]).toMatch(fault);
  });

  it.each([
    [{ kind: 'garbage', atMs: 0 }, (text: string) => text.startsWith('this is')],
    [{ kind: 'half_message', atMs: 0 }, (text: string) => text.endsWith('payl')],
    [{ kind: 'huge', atMs: 0 }, (text: string) => text.length > 1_048_576],
    [{ kind: 'binary', atMs: 0 }, (_text: string, isBinary: boolean) => isBinary],
  ] as const)('sends what the fault %j asks for, and goes on with audio', async (fault, isIt) => {
    await start({ faults: { media: [fault] } });
    await place();
    const socket = await gateway.nextSocket();
    await socket.next('media');
    const good = await socket.next('media');
    expect(socket.received.some(({ text, isBinary }) => isIt(text, isBinary))).toBe(true);
    expect(Number(good['sequenceNumber'])).toBeLessThanOrEqual(3);
  });

  it('holds frames back and sends 5 together, and loses frames in a gap while the numbers go on', async () => {
    await start({
      faults: {
        media: [
          { kind: 'burst', atMs: 0, frames: 5 },
          { kind: 'gap', atMs: 300, lengthMs: 200 },
        ],
      },
    });
    await place();
    const socket = await gateway.nextSocket();
    const chunks: number[] = [];
    while ((chunks.at(-1) ?? 0) < 30) {
      const { media } = await socket.next('media');
      chunks.push((media as { chunk: number }).chunk);
      // A machine that stands still over the beginning of the gap: faults go by the stream's time, not by its own.
      if (chunks.length === 5) for (const untilMs = performance.now() + 300; performance.now() < untilMs; );
    }
    const jump = chunks.findIndex((chunk, i) => i > 0 && chunk !== chunks[i - 1]! + 1);
    expect(chunks[jump]! - chunks[jump - 1]! - 1).toBe(10);
    expect(chunks.slice(0, 5)).toEqual([1, 2, 3, 4, 5]);
  });
});

describe('media socket faults', () => {
  it('dial a changed token, the same URL a second time, and without a signature', async () => {
    await start({ faults: { media: [{ kind: 'wrong_token' }] } });
    await place();
    await gateway.nextSocket();
    expect(gateway.upgrades[0]!.url).toMatch(/\/media\/tokenA$/);

    emulator.setPersonas([
      {
        kind: 'silent',
        name: 'twice',
        number: NUMBER,
        dialMs: 0,
        ringMs: 0,
        faults: { media: [{ kind: 'reused_token', atMs: 0 }] },
      },
    ]);
    const uuid = await place();
    const { truth } = emulator.find(uuid)!;
    // The second stream is the gateway's last socket before the emulator knows that it is open; it carries no media.
    await eventually('the second stream', () => truth.protocolFaults.length > 0);
    expect(truth.protocolFaults).toEqual(['a used token opened a second stream']);
    expect(gateway.upgrades).toHaveLength(3);
    expect(gateway.upgrades[1]!.url).toBe(gateway.upgrades[2]!.url);

    emulator.setPersonas([
      {
        kind: 'silent',
        name: 'unsigned',
        number: NUMBER,
        dialMs: 0,
        ringMs: 0,
        faults: { media: [{ kind: 'unsigned_upgrade' }] },
      },
    ]);
    await place();
    await eventually('the upgrade without a signature', () => gateway.upgrades[3]);
    expect(verifyUpgradeV3(AUTH_TOKEN, gateway.upgrades[3]!.url, gateway.upgrades[3]!.headers)).toBe(false);
  });

  it('drop the socket after 100 ms, and the XML goes on', async () => {
    await start({ faults: { media: [{ kind: 'drop', atMs: 100 }] } });
    const uuid = await place();
    expect((await gateway.seen('hangup')).params).toMatchObject({
      HangupCauseCode: '4000',
      HangupSource: 'Answer XML',
    });
    expect(emulator.find(uuid)!.truth.streams).toMatchObject([{ closeCode: 1006 }]);
  });

  it('open a socket and say nothing at all', async () => {
    await start({ faults: { media: [{ kind: 'silence' }] } });
    const uuid = await place();
    const socket = await gateway.nextSocket();
    await fetch(`${emulator.apiBase}/emulator/calls/${uuid}/hangup`, { method: 'POST' });
    expect((await gateway.seen('hangup')).params['HangupSource']).toBe('Callee');
    expect(socket.received).toEqual([]);
  });
});

describe('callback faults', () => {
  it('double, delay, lose and unsign the callbacks that they name', async () => {
    await start({
      outcome: 'busy',
      faults: { callbacks: { doubled: ['hangup'], unsigned: ['hangup'] } },
    });
    await place();
    await gateway.seen('hangup', 2);
    expect(gateway.callbacks.every((callback) => callback.headers['x-plivo-signature-v3'] === undefined)).toBe(true);

    emulator.setPersonas([
      {
        kind: 'silent',
        name: 'late',
        number: NUMBER,
        dialMs: 0,
        ringMs: 10,
        hangsUpAfterMs: 50,
        faults: { callbacks: { lateMs: { ring: 150 }, lost: ['stream'], wrongSignature: ['ring'] } },
      },
    ]);
    gateway.callbacks.length = 0;
    await place();
    const ring = await gateway.seen('ring');
    await gateway.seen('hangup');
    const kinds = gateway.callbacks.map((callback) => callback.kind);
    expect(kinds.toSorted()).toEqual(['answer', 'hangup', 'ring']);
    expect(kinds.indexOf('ring')).toBeGreaterThan(kinds.indexOf('answer'));
    expect(verifyV3(AUTH_TOKEN, { method: 'POST', url: ring.url, params: ring.params }, ring.headers)).toBe(false);
  });
});

describe('the control endpoint', () => {
  it('gives each call as JSON, takes personas, and refuses bad ones with the path of the fault', async () => {
    await start({ outcome: 'busy' });
    const uuid = await place();
    await gateway.seen('hangup');
    const all = (await (await fetch(`${emulator.apiBase}/emulator/calls`)).json()) as Record<string, unknown>[];
    expect(all).toHaveLength(1);
    expect(all[0]).toMatchObject({ callUuid: uuid, persona: 'P', state: 'over', hangup: { code: 3010 } });
    expect((await fetch(`${emulator.apiBase}/emulator/calls/none`)).status).toBe(404);
    const put = (body: unknown) =>
      fetch(`${emulator.apiBase}/emulator/personas`, { method: 'PUT', body: JSON.stringify(body) });
    expect((await put([{ kind: 'silent', name: 'n', number: '*', outcome: 'declined' }])).status).toBe(200);
    const refused = await put([{ kind: 'silent', name: 'n', number: '5', outcome: 'declined' }]);
    expect(refused.status).toBe(400);
    expect(await refused.text()).toContain('0.number');
  });
});
