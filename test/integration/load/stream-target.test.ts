/**
 * The load tester against voice bots that know nothing of it: both protocols over real sockets, and what goes wrong.
 */

import { mkdtempSync, rmSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { type WebSocket, WebSocketServer } from 'ws';
import { PATIENCE_MS } from '../../../bench/harness/patience.ts';
import type { MeasuredCall } from '../../../bench/load/contract/measured-call.ts';
import type { PlannedCall } from '../../../bench/load/contract/planned-call.ts';
import { TargetFault } from '../../../bench/load/contract/target.ts';
import { knownSignal } from '../../../bench/load/far-end/known-signal.ts';
import type { StreamPlan } from '../../../bench/load/targets/stream/stream-plan.ts';
import { StreamTarget } from '../../../bench/load/targets/stream/stream-target.ts';
import { readWav } from '../../../media/audio/wav-reader.ts';
import type { Clock } from '../../../media/contract/clock.ts';
import type { CarrierMessage } from '../../support/bots/carrier-message.ts';
import { startPlivoBot } from '../../support/bots/plivo-bot.ts';
import { startTwilioBot } from '../../support/bots/twilio-bot.ts';
import { eventually } from '../../support/eventually.ts';

const TURNS: PlannedCall['talk'] = {
  kind: 'turns',
  clips: [],
  turns: 2,
  afterMs: 300,
  patienceMs: PATIENCE_MS,
  bargeInShare: 0,
  bargeInAfterMs: 0,
};
/** Of a square wave. */
const clipOf = (ms: number) => Uint8Array.from({ length: 8 * ms }, (_, i) => (i % 20 < 10 ? 0x95 : 0x15));
const CLIP = clipOf(600);
/** Nothing that happens within it is over before it is. */
const LONG_MS = 60_000;

/** A call of this length goes on until its test hangs up: how far it is by then is no matter of time. */
const UNTIL_HUNG_UP_MS = 24 * 3_600_000;
const hangUps = new Set<() => void>();
const hangUp = (): void => hangUps.forEach((run) => void run());

const folder = mkdtempSync(join(tmpdir(), 'parley-load-'));
const ends: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
  hangUps.clear();
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function runClock(): Clock {
  const zeroMs = performance.now();
  return {
    nowMs: () => performance.now() - zeroMs,
    epochMs: () => Date.now(),
    after(afterMs, run) {
      if (afterMs > UNTIL_HUNG_UP_MS / 2) {
        hangUps.add(run);
        return () => void hangUps.delete(run);
      }
      const timer = setTimeout(run, Math.max(0, afterMs));
      return () => clearTimeout(timer);
    },
  };
}

function targetOf(
  plan: Partial<StreamPlan> & Pick<StreamPlan, 'protocol' | 'address'>,
  clip: Uint8Array = CLIP,
): StreamTarget {
  const rest = { headers: {}, parameters: {}, authToken: null, gapBufferMs: 60, expectSignal: false };
  const mayLeadElsewhere = false;
  const target = new StreamTarget(
    { kind: 'stream', soundFolder: null, mayLeadElsewhere, ...rest, ...plan },
    { clock: runClock(), frameSent: () => {}, clipsOf: async () => [clip] },
  );
  ends.push(() => target.close());
  return target;
}

function planned(more: Partial<PlannedCall> = {}): PlannedCall {
  return {
    index: 0,
    atMs: 0,
    caller: 'someone',
    by: 'phone',
    codec: 'mulaw',
    ringMs: 20,
    outcome: 'answer',
    lengthMs: UNTIL_HUNG_UP_MS,
    talk: TURNS,
    network: { delayMs: 0, jitterMs: 0, lossShare: 0 },
    resumesAtMs: null,
    seed: 1,
    ...more,
  };
}

/** A server of the test's own, closed after it. */
async function serve(server: ReturnType<typeof createServer>): Promise<string> {
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  ends.push(
    () =>
      new Promise((closed) => {
        server.close(() => closed());
        server.closeAllConnections();
      }),
  );
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const eventsOf = (stream: readonly CarrierMessage[], event: string): CarrierMessage[] =>
  stream.filter((message) => message.event === event);

/** Frames that were not silent. */
const saidIn = (stream: readonly CarrierMessage[]): number =>
  eventsOf(stream, 'media').filter(({ media }) => Buffer.from(media.payload, 'base64').some((byte) => byte !== 0xff))
    .length;

/** Hangs up when that has come. */
async function once(what: string, look: () => boolean): Promise<void> {
  await eventually(what, look);
  hangUp();
}

describe("a stranger's bot on Twilio Media Streams", () => {
  test('is dialled, talked to, judged and recorded', async () => {
    const bot = await startTwilioBot('12345');
    ends.push(() => bot.close());
    const target = targetOf({
      protocol: 'twilio',
      address: { streamUrl: bot.url },
      headers: { 'x-shop': '7' },
      parameters: { order: 'A-1' },
      authToken: '12345',
      soundFolder: folder,
    });
    await target.check();
    const call = target.call(planned());
    // Each comes back when what was said before it has been played.
    await once('the marks of hello and of two replies', () => eventsOf(bot.streams[1] ?? [], 'mark').length === 3);
    const measured = await call;
    expect(measured).toMatchObject({ fate: 'talked', code: null, why: null, endedBy: 'far_end', unanswered: 0 });
    expect(measured.firstWordMs).not.toBeNull();
    expect(measured.replies.length).toBe(2);
    expect(measured.sound!.frames).toBe(3);
    expect(measured.sound!.audioMs).toBe(900);

    // The check opened a stream and closed it before a call began on it.
    const stream = bot.streams.at(-1)!;
    expect(bot.streams.length).toBe(2);
    expect(bot.streams[0]).toEqual([]);
    expect(bot.upgrades.at(-1)).toMatchObject({ 'x-shop': '7' });
    expect(stream[0]).toEqual({ event: 'connected', protocol: 'Call', version: '1.0.0' });
    const { start, streamSid } = stream[1]!;
    expect(stream[1]).toMatchObject({ event: 'start', sequenceNumber: '1' });
    expect(start).toMatchObject({
      tracks: ['inbound'],
      mediaFormat: { encoding: 'audio/x-mulaw', sampleRate: 8000, channels: 1 },
      customParameters: { order: 'A-1' },
    });
    expect(streamSid).toMatch(/^MZ[0-9a-f]{32}$/);
    expect(start.callSid).toMatch(/^CA[0-9a-f]{32}$/);
    const media = eventsOf(stream, 'media');
    expect(media[1]).toMatchObject({ media: { track: 'inbound', chunk: '2', timestamp: '20' }, streamSid });
    expect(stream.slice(1).map(({ sequenceNumber }) => Number(sequenceNumber))).toEqual(
      stream.slice(1).map((_, i) => i + 1),
    );
    expect(eventsOf(stream, 'mark').length).toBe(3);
    expect(eventsOf(stream, 'mark')[0]).toMatchObject({ mark: { name: 'hello' } });
    expect(stream.at(-1)).toMatchObject({ event: 'stop', stop: { callSid: start.callSid } });

    const { monoSamples, rateHz } = readWav(await readFile(measured.recordingPath!), 60);
    expect(rateHz).toBe(8_000);
    expect(monoSamples.length).toBeGreaterThan(8_000);
  });

  test('is interrupted: what it clears is not heard, and its marks come back', async () => {
    const bot = await startTwilioBot(null, LONG_MS);
    ends.push(() => bot.close());
    const target = targetOf({ protocol: 'twilio', address: { streamUrl: bot.url } }, clipOf(LONG_MS));
    const talk = { ...TURNS, turns: 1, bargeInShare: 1, bargeInAfterMs: 500 };
    const call = target.call(planned({ talk }));
    await eventually('the mark of what was cleared', () => eventsOf(bot.streams[0] ?? [], 'mark').length > 0);
    // Whether it has stopped is known when it was silent for 400 ms.
    await new Promise((resolve) => setTimeout(resolve, 500));
    hangUp();
    const measured = await call;
    // Who stands still in mid-word has come between twice, and the bot has stopped once.
    expect(measured.bargeIns.some(({ stoppedAfterMs }) => stoppedAfterMs !== null)).toBe(true);
    expect(measured.sound!.audioMs).toBeLessThan(LONG_MS);
    expect(eventsOf(bot.streams[0]!, 'mark').map(({ mark }) => mark.name)).toContain('hello');
  });

  test('that wants a signature refuses a call without one, and the check says what to give', async () => {
    const bot = await startTwilioBot('12345');
    ends.push(() => bot.close());
    const target = targetOf({ protocol: 'twilio', address: { streamUrl: bot.url } });
    await expect(target.check()).rejects.toThrow(TargetFault);
    await expect(target.check()).rejects.toThrow(/refused the stream with 403: .*--auth-token/);
    expect(await target.call(planned())).toMatchObject({ fate: 'refused', code: '403', answeredAtMs: null });
  });
});

describe("a stranger's bot on Plivo audio streams", () => {
  test('is asked for its document, dialled, talked to and judged, every request signed', async () => {
    const bot = await startPlivoBot('a-token');
    ends.push(() => bot.close());
    const target = targetOf({
      protocol: 'plivo',
      address: { answerUrl: bot.answerUrl, answerMethod: 'POST' },
      parameters: { campaign: 'x' },
      authToken: 'a-token',
    });
    const call = target.call(planned());
    await eventually('all of two turns', () => saidIn(bot.streams[0] ?? []) === (2 * CLIP.length) / 160);
    // What comes back of them is played until then: after a standstill one pause may be none, several are not.
    for (let pause = 0; pause < 20; pause++) await new Promise((resolve) => setTimeout(resolve, 50));
    hangUp();
    const measured = await call;
    expect(measured).toMatchObject({ fate: 'talked', code: null, why: null, endedBy: 'far_end' });
    expect(measured.placementMs).not.toBeNull();
    expect(measured.firstWordMs).not.toBeNull();
    // 300 ms of hello, and two turns of 600 ms that come back at once.
    expect(measured.sound!.audioMs).toBe(1_500);

    const { fields, isSigned } = bot.answers[0]!;
    expect(isSigned).toBe(true);
    expect(bot.upgrades).toEqual([{ isSigned: true }]);
    expect(fields).toMatchObject({ Event: 'StartApp', CallStatus: 'in-progress' });
    const stream = bot.streams[0]!;
    const { start, extra_headers } = stream[0]!;
    expect(stream[0]).toMatchObject({ event: 'start', sequenceNumber: 1 });
    expect(start).toMatchObject({
      callId: fields['CallUUID'],
      tracks: ['inbound'],
      mediaFormat: { encoding: 'audio/x-mulaw', sampleRate: 8000 },
    });
    expect(extra_headers).toBe('campaign=x,shop=7');
    const media = eventsOf(stream, 'media');
    expect(media[1]).toMatchObject({ media: { track: 'inbound', chunk: 2 }, streamId: start.streamId });
    expect(Number(media[1]!.media.timestamp) - Number(media[0]!.media.timestamp)).toBe(20);
    expect(eventsOf(stream, 'playedStream').map(({ name }) => name)).toEqual(['hello']);
    expect(eventsOf(stream, 'clearedAudio')).toEqual([
      { event: 'clearedAudio', sequenceNumber: 0, streamId: start.streamId },
    ]);
  });
});

test('a bot that plays the known signal is told what was lost of it and what came twice', async () => {
  const frames = Array.from({ length: 300 }, (_, i) => i);
  // Lost: 50, 120 and 121. Twice: 200.
  const played = frames.filter((i) => ![50, 120, 121].includes(i)).flatMap((i) => (i === 200 ? [i, i] : [i]));
  const server = createServer();
  new WebSocketServer({ server }).on('connection', (socket) =>
    socket.on('message', (text) => {
      const message: CarrierMessage = JSON.parse(String(text));
      if (message.event !== 'start') return;
      const signal = knownSignal();
      for (const i of played) {
        const payload = Buffer.from(signal.subarray(i * 160, (i + 1) * 160)).toString('base64');
        socket.send(JSON.stringify({ event: 'media', streamSid: message.streamSid, media: { payload } }));
      }
      socket.close(1000);
    }),
  );
  const address = { streamUrl: `ws://${await serve(server)}/` };
  const measured = await targetOf({ protocol: 'twilio', address, expectSignal: true }).call(planned());
  expect(measured).toMatchObject({ fate: 'talked', sound: { frames: 298, lostMs: 60, repeatedMs: 20 } });
});

describe('bad luck', () => {
  const direct = (host: string): Partial<StreamPlan> & Pick<StreamPlan, 'protocol' | 'address'> => ({
    protocol: 'twilio',
    address: { streamUrl: `ws://${host}/` },
  });

  test('nobody listens', async () => {
    const target = targetOf(direct('127.0.0.1:9'));
    expect(await target.call(planned())).toMatchObject({ fate: 'failed', code: 'ECONNREFUSED' });
    await expect(target.check()).rejects.toThrow(/nothing listens at .*: start the bot, or mend --stream/);
  });

  test.each([
    ['answers garbage', (socket: WebSocket) => socket.on('message', () => socket.send('hm')), 'failed', 'protocol'],
    [
      'speaks the other protocol',
      (socket: WebSocket) => socket.on('message', () => socket.send('{"event":"playAudio"}')),
      'failed',
      'protocol',
    ],
    [
      'sends binary',
      (socket: WebSocket) => socket.on('message', () => socket.send(Buffer.alloc(160))),
      'failed',
      'protocol',
    ],
    ['breaks off', (socket: WebSocket) => socket.once('message', () => socket.terminate()), 'lost', '1006'],
    ['fails', (socket: WebSocket) => socket.once('message', () => socket.close(1011)), 'lost', '1011'],
    ['hangs up', (socket: WebSocket) => socket.once('message', () => socket.close(1000)), 'talked', null],
  ])('a bot that %s', async (_what, behave, fate, code) => {
    const server = createServer();
    let isRead = false;
    new WebSocketServer({ server }).on('connection', (socket) => {
      behave(socket);
      // A pong says that what was sent before its ping has been read.
      socket.once('message', () => socket.readyState === socket.OPEN && socket.ping());
      socket.once('pong', () => {
        isRead = true;
      });
    });
    const target = targetOf(direct(await serve(server)));
    const call = target.call(planned());
    if (fate === 'failed') await once('an answer', () => isRead);
    const measured = await call;
    expect(measured).toMatchObject({ fate, code });
    if (code === 'protocol') expect(measured.why).toMatch(/against the protocol, the first: /);
    if (fate !== 'failed') expect(measured.endedBy).toBe('target');
  });

  test.each([
    [200, '<Response><Say>Hello</Say><Hangup/></Response>', 'refused', 'hangup'],
    [200, '<Response><Start><Stream url="wss://x/y"/></Start></Response>', 'failed', 'no_stream'],
    [200, '<Response><Connect><Stream url="https://x/y"/></Connect></Response>', 'failed', 'document'],
    [200, 'not xml', 'failed', 'document'],
    [200, '<Response><Redirect>/again</Redirect></Response>', 'failed', 'redirects'],
    [503, 'busy', 'refused', '503'],
  ])('an answer URL that says %i %s', async (status, body, fate, code) => {
    const host = await serve(createServer((_request, response) => response.writeHead(status).end(body)));
    const target = targetOf({ protocol: 'twilio', address: { answerUrl: `http://${host}/a`, answerMethod: 'POST' } });
    expect(await target.call(planned())).toMatchObject({ fate, code, answeredAtMs: null });
  });

  test('a phone that nobody picks up dials no stream; a run that is stopped hangs up', async () => {
    const bot = await startTwilioBot(null);
    ends.push(() => bot.close());
    const target = targetOf({ protocol: 'twilio', address: { streamUrl: bot.url } });
    expect(await target.call(planned({ outcome: 'no_answer' }))).toMatchObject({ fate: 'unanswered', why: null });
    expect(bot.streams.length).toBe(0);

    const calls: Promise<MeasuredCall>[] = [
      target.call(planned({ index: 1, lengthMs: 60_000 })),
      target.call(planned({ index: 2, ringMs: 60_000 })),
    ];
    await eventually('a stream', () => (bot.streams[0]?.length ?? 0) > 5);
    await target.hangUpAll(5_000);
    for (const call of await Promise.all(calls)) expect(call).toMatchObject({ fate: 'cut' });
    await eventually('its end', () => bot.streams[0]!.at(-1)!.event === 'stop');
    expect(bot.streams.length).toBe(1);
  });
});
