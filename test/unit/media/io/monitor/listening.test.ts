/** Listening in, in a media process: what the far end gets stays as it is, what the listener gets, and how it ends. */
import { describe, expect, test } from 'vitest';
import type { CallCommand } from '../../../../../media/contract/call-command.ts';
import type { ToControl } from '../../../../../media/contract/link-messages.ts';
import type { MonitorReport } from '../../../../../media/contract/monitor.ts';
import { createPlivoCodecFactory } from '../../../../../media/io/carriers/plivo/plivo-codec.ts';
import { FrameClock } from '../../../../../media/io/frame-clock.ts';
import { CarrierLeg } from '../../../../../media/io/legs/carrier/carrier-leg.ts';
import { MonitorDesk } from '../../../../../media/io/monitor/monitor-desk.ts';
import { createMonitorEndpoint, type MonitorSocketData } from '../../../../../media/io/monitor/monitor-endpoint.ts';
import type { MediaSocket, SendResult } from '../../../../../media/io/socket-server/media-socket-server.ts';
import type { CallBlock } from '../../../../../media/rings/call-block.ts';
import { attachRecordRing, PLAYED, RECEIVED } from '../../../../../media/rings/record-ring.ts';
import { toneSetup } from '../../../../support/tone-setup.ts';
import { VirtualClock } from '../../../../support/virtual-clock.ts';

const TOKEN = 'A'.repeat(43);
const CALL = 'call-1';
const FRAME_BYTES = 160;

interface Frame {
  side: number;
  atMs: number;
  sound: Uint8Array;
}

/** A page's end of `/ws/monitor`, let in by an endpoint. */
class Page implements MediaSocket<MonitorSocketData> {
  data!: MonitorSocketData;
  isOpen = true;
  bufferedBytes = 0;
  readonly told: Record<string, unknown>[] = [];
  readonly frames: Frame[] = [];
  readonly sizes: number[] = [];
  closedWith: [number, string] | null = null;
  onClose: () => void = () => {};

  send(message: Uint8Array, isBinary: boolean): SendResult {
    if (!this.isOpen) return 'dropped';
    if (!isBinary) {
      this.told.push(JSON.parse(Buffer.from(message).toString()));
      return 'sent';
    }
    this.sizes.push(message.length);
    const view = new DataView(message.buffer, message.byteOffset, message.length);
    for (let at = 4; at < message.length; ) {
      const lengthBytes = view.getUint16(at + 2, true);
      const sound = message.slice(at + 8, at + 8 + lengthBytes);
      this.frames.push({ side: message[at]!, atMs: view.getUint32(at + 4, true), sound });
      at += 8 + lengthBytes;
    }
    return 'sent';
  }

  close(code: number, reason: string): void {
    if (!this.isOpen) return;
    this.isOpen = false;
    this.closedWith = [code, reason];
    this.onClose();
  }
}

/** One call whose caller and agent say other bytes in each frame, and a door for listeners. */
function makeCall({ record = true }: { record?: boolean } = {}) {
  const clock = new VirtualClock();
  const frameClock = new FrameClock({ clock, afterTick: () => {} });
  const setup = toneSetup({ callUuid: CALL, carrierCallId: null, record });
  /** What the far end gets, and when. */
  const line: [number, string][] = [];
  let block!: CallBlock;
  let recordMemory: SharedArrayBuffer | null = null;
  const leg = new CarrierLeg({
    setup,
    codecFactory: createPlivoCodecFactory({ framesPerMessage: 1 }),
    clock,
    frameClock,
    listener: {
      started: (_stream, _call, made, memory) => {
        block = made;
        recordMemory = memory;
      },
      fed() {},
      command() {},
      faulted() {},
      recovered() {},
      failed: (error) => {
        throw error;
      },
      over: () => desk.callOver(CALL, false),
    },
  });
  leg.attach({
    data: null,
    isOpen: true,
    bufferedBytes: 0,
    send: (message) => {
      line.push([clock.nowMs(), Buffer.from(message).toString()]);
      return 'sent';
    },
    close: () => {},
  });
  const say = (message: object): void => leg.message(Buffer.from(JSON.stringify(message)), false);
  say({ event: 'start', start: { callId: 'c', streamId: 's' } });

  const toControl: ToControl[] = [];
  const link = { isConnected: true, send: (message: ToControl) => void toControl.push(message) };
  const commands: CallCommand[] = [];
  const command = (one: CallCommand): void => void commands.push(one);
  const desk = new MonitorDesk({
    clock,
    frameClock,
    log: { error() {} } as never,
    find: (callUuid) => (callUuid === CALL ? { leg, setup, command } : undefined),
    link,
  });
  const log = { info() {} } as never;
  const door = createMonitorEndpoint({ desk, clock, log, refused: () => {} });

  let frames = 0;
  const heard: Uint8Array[] = [];
  return {
    clock,
    desk,
    door,
    leg,
    line,
    link,
    toControl,
    /** What its pipeline was asked by listeners. */
    commands,
    heard,
    recorded: () => {
      const ring = attachRecordRing(recordMemory!, setup.format);
      const all: Frame[] = [];
      for (; ring.peek(); ring.release()) {
        const sound = ring.bytes.slice(ring.payloadStart, ring.payloadStart + ring.lengthBytes);
        all.push({ side: ring.generation, atMs: ring.atMs, sound });
      }
      return all;
    },
    reports: (): MonitorReport[] =>
      toControl.flatMap((message) => (message.type === 'monitor.closed' ? [message.report] : [])),
    /** 20 ms of both sides, so often. */
    run(times: number): void {
      for (let i = 0; i < times; i++) {
        frames++;
        const sound = new Uint8Array(FRAME_BYTES).map((_, at) => (frames * 7 + at) & 0xff);
        heard.push(sound);
        const payload = Buffer.from(sound).toString('base64');
        say({ event: 'media', media: { track: 'inbound', timestamp: String(frames * 20), chunk: frames, payload } });
        if (frames % 50 < 30) {
          const said = new Uint8Array(FRAME_BYTES).map((_, at) => (frames * 13 + at * 3) & 0xff);
          block.downlink.tryWrite(said, 0, FRAME_BYTES, block.generation, frames, 0);
        }
        // Cut short now and then, as a caller who breaks in does.
        if (frames % 120 === 20) block.raiseGeneration();
        clock.advanceMs(20);
      }
    },
    /** Somebody comes with a token; control lets them in, or not. */
    async listens(code?: 'token_invalid', query = `token=${TOKEN}`): Promise<Page> {
      const page = new Page();
      const before = toControl.length;
      await new Promise<void>((done) => {
        door.upgrade(
          { path: '/ws/monitor', query, headers: {}, remoteAddress: '192.0.2.7' },
          {
            accept: (data: MonitorSocketData) => {
              page.data = data;
              done();
              return true;
            },
            reject: () => true,
            onAborted: null,
          },
        );
        const asked = toControl.slice(before).find((message) => message.type === 'monitor.claim');
        if (asked?.type !== 'monitor.claim') return;
        const monitorId = `m${asked.requestId}`;
        const answer =
          code === undefined
            ? { ok: true as const, monitorId, callUuid: CALL, turns: [] }
            : { ok: false as const, code };
        desk.answered(asked.requestId, answer);
      });
      page.onClose = () => door.closed(page, 1000);
      door.open(page);
      return page;
    },
    asked: () => toControl.flatMap((message) => (message.type === 'monitor.ask' ? [message] : [])),
    speaks: (page: Page, samples: Int16Array) => door.message(page, new Uint8Array(samples.buffer), true),
    says: (page: Page, message: object | string) =>
      door.message(page, Buffer.from(typeof message === 'string' ? message : JSON.stringify(message)), false),
  };
}

const ON = { type: 'sound', on: true };

describe('a call to which somebody listens', () => {
  test.each([true, false])(
    'sends the far end the same bytes at the same times as one to which nobody does (recorded: %s)',
    async (record) => {
      const alone = makeCall({ record });
      alone.run(400);
      const call = makeCall({ record });
      call.run(60);
      const page = await call.listens();
      call.says(page, ON);
      call.run(140);
      const second = await call.listens();
      call.says(second, ON);
      call.run(80);
      page.close(1000, '');
      call.run(20);
      second.close(1000, '');
      call.run(100);
      expect(page.frames.length).toBeGreaterThan(300);
      expect(call.line.length).toBeGreaterThan(200);
      expect(call.line).toEqual(alone.line);
      expect(call.leg.counters).toEqual(alone.leg.counters);
      if (record) expect(call.recorded()).toEqual(alone.recorded());
    },
  );

  test('is heard whole, both sides, each frame once and at its place, as it is recorded', async () => {
    const call = makeCall();
    call.run(1);
    const page = await call.listens();
    call.says(page, ON);
    call.run(90);
    const order = (a: Frame, b: Frame): number => a.side - b.side || a.atMs - b.atMs;
    const recorded = call.recorded().toSorted(order);
    // What the frame clock has not sent yet.
    const got = page.frames.toSorted(order);
    expect(got.filter(({ side }) => side === RECEIVED).map(({ sound }) => sound)).toEqual(
      call.heard.slice(1, 1 + got.filter(({ side }) => side === RECEIVED).length),
    );
    expect(got.length).toBeGreaterThanOrEqual(recorded.length - 2);
    expect(got.filter(({ side }) => side === PLAYED).length).toBeGreaterThan(40);
    for (const frame of got) expect(recorded).toContainEqual(frame);
  });

  test('that is not recorded is heard from where the listener came, and what was under way then is silence', async () => {
    const call = makeCall({ record: false });
    call.run(10);
    const page = await call.listens();
    call.says(page, ON);
    call.run(10);
    const played = page.frames.filter(({ side }) => side === PLAYED);
    expect(played[0]!.sound.every((byte) => byte === 0xff)).toBe(true);
    expect(played.at(-1)!.sound.every((byte) => byte === 0xff)).toBe(false);
  });
});

describe('a listener', () => {
  test('has no sound until it asks, and none after it asked for silence; events come all the while', async () => {
    const call = makeCall();
    call.run(5);
    const page = await call.listens();
    const mulaw = { codec: 'mulaw', rateHz: 8000 };
    expect(page.told).toEqual([
      { type: 'monitor.ready', callUuid: CALL, streamMs: 100, caller: mulaw, agent: mulaw, turns: [] },
    ]);
    call.run(10);
    expect(page.frames).toEqual([]);
    call.says(page, ON);
    call.run(10);
    const heardFrames = page.frames.length;
    expect(heardFrames).toBeGreaterThan(10);
    call.says(page, { type: 'sound', on: false });
    call.desk.event(CALL, { type: 'step', stepId: 's', atMs: 5 });
    call.run(10);
    expect(page.frames.length).toBe(heardFrames);
    expect(page.told.slice(1)).toEqual([
      { type: 'sound', on: true },
      { type: 'sound', on: false },
      { type: 'event', event: { type: 'step', stepId: 's', atMs: 5 } },
    ]);
    call.says(page, { type: 'ping', id: 4 });
    expect(page.told.at(-1)).toEqual({ type: 'pong', id: 4, streamMs: 700 });
    page.close(1000, '');
    expect(call.reports()).toEqual([{ monitorId: 'm1', why: 'left', soundMs: 200, droppedFrames: 0 }]);
    expect(call.desk.listeners).toBe(0);
  });

  test('that reads too slowly loses frames, which are never kept for it, and after 5 s its socket', async () => {
    const call = makeCall();
    call.run(1);
    const slow = await call.listens();
    const quick = await call.listens();
    for (const page of [slow, quick]) call.says(page, ON);
    slow.bufferedBytes = 50_000;
    call.run(100);
    expect(slow.frames).toEqual([]);
    expect(quick.frames.length).toBeGreaterThan(100);
    slow.bufferedBytes = 0;
    call.run(10);
    expect(slow.frames.length).toBeGreaterThan(10);
    slow.bufferedBytes = 50_000;
    call.run(260);
    expect(slow.closedWith).toEqual([4408, 'slow_listener']);
    expect(slow.told.at(-1)).toEqual({ type: 'error', code: 'slow_listener' });
    expect(call.reports()).toMatchObject([{ why: 'slow_listener' }]);
    expect(call.reports()[0]!.droppedFrames).toBeGreaterThan(400);
    expect(quick.isOpen).toBe(true);
    for (const size of quick.sizes) expect(size).toBeLessThan(32 * 1024);
  });

  test('hears the end of the call, and its monitor with it', async () => {
    const call = makeCall();
    call.run(1);
    const page = await call.listens();
    call.says(page, ON);
    call.run(5);
    call.leg.stop();
    expect(page.told.at(-1)).toEqual({ type: 'error', code: 'call_over' });
    expect(page.closedWith).toEqual([1000, 'call_over']);
    expect(call.reports()).toMatchObject([{ why: 'call_over' }]);
    call.clock.advanceMs(10_000);
    expect(call.clock.pendingTimers).toBe(0);
  });

  test.each([
    [
      'control says so',
      (call: ReturnType<typeof makeCall>) => call.desk.end('m1', 'session_over'),
      4403,
      'session_over',
    ],
    [
      'control is another run',
      (call: ReturnType<typeof makeCall>) => call.desk.controlRestarted(),
      4503,
      'service_away',
    ],
    [
      'control has been away for 1.5 s',
      (call: ReturnType<typeof makeCall>) => {
        call.link.isConnected = false;
        call.clock.advanceMs(1_500);
      },
      4503,
      'service_away',
    ],
    [
      'it says nonsense',
      (call: ReturnType<typeof makeCall>, page: Page) => call.says(page, '{"type":"say"}'),
      4400,
      'bad_message',
    ],
    [
      'it says too much',
      (call: ReturnType<typeof makeCall>, page: Page) => {
        for (let i = 0; i < 21; i++) call.says(page, { type: 'ping', id: i });
      },
      4400,
      'bad_message',
    ],
  ] as const)('is shut out when %s', async (_when, happens, code, why) => {
    const call = makeCall();
    call.run(1);
    const page = await call.listens();
    happens(call, page);
    expect(page.closedWith).toEqual([code, why]);
    expect(call.reports()).toEqual([{ monitorId: 'm1', why, soundMs: 0, droppedFrames: 0 }]);
  });

  test('without a good token is told so; two tokens, or what can be none, are not even asked about', async () => {
    const call = makeCall();
    call.run(1);
    const page = await call.listens('token_invalid');
    expect([page.told, page.closedWith]).toEqual([[{ type: 'error', code: 'token_invalid' }], [4401, 'token_invalid']]);
    const asked = call.toControl.length;
    for (const query of ['', 'token=short', `token=${TOKEN}&token=${TOKEN}`]) {
      expect((await call.listens(undefined, query)).closedWith).toEqual([4401, 'token_invalid']);
    }
    expect(call.toControl.length).toBe(asked);
  });

  test('whose answer comes too late is reported as gone, and one to whom control is away is refused', async () => {
    const call = makeCall();
    const claimed = call.desk.claim(TOKEN);
    call.clock.advanceMs(3_000);
    expect(await claimed).toEqual({ ok: false, code: 'service_away' });
    call.desk.answered(1, { ok: true, monitorId: 'm1', callUuid: CALL, turns: [] });
    expect(call.reports()).toMatchObject([{ monitorId: 'm1', why: 'left' }]);
    call.link.isConnected = false;
    expect(await call.desk.claim(TOKEN)).toEqual({ ok: false, code: 'service_away' });
  });
});

const FRAME = Int16Array.from({ length: 320 }, (_, at) => at * 50 - 8_000);

describe('a listener who wants something of the call', () => {
  test('asks by way of control, and is answered by its own number, also when control is away', async () => {
    const call = makeCall();
    call.run(1);
    const page = await call.listens();
    call.says(page, { type: 'whisper', id: 7, text: ' be kind ' });
    call.says(page, { type: 'barge', id: 8, text: 'One moment.' });
    call.says(page, { type: 'handback', id: 9, note: 'she is angry' });
    expect(call.asked().map(({ monitorId, action }) => [monitorId, action])).toEqual([
      ['m1', { type: 'whisper', text: 'be kind' }],
      ['m1', { type: 'say', text: 'One moment.', interrupt: true }],
      ['m1', { type: 'handback', note: 'she is angry' }],
    ]);
    for (const [index, { requestId }] of call.asked().entries()) {
      call.desk.asked(requestId, index === 2 ? 'not_taken' : 'done');
    }
    call.link.isConnected = false;
    call.says(page, { type: 'takeover', id: 10 });
    expect(page.told.slice(1)).toEqual([
      { type: 'answer', id: 7, action: 'whisper', result: 'done' },
      { type: 'answer', id: 8, action: 'say', result: 'done' },
      { type: 'answer', id: 9, action: 'handback', result: 'not_taken' },
      { type: 'answer', id: 10, action: 'takeover', result: 'unanswered' },
    ]);
  });

  test('speaks to the call only from the taking over to its end, whatever ended it', async () => {
    const call = makeCall();
    call.run(1);
    const page = await call.listens();
    call.speaks(page, FRAME);
    call.says(page, { type: 'takeover', id: 1 });
    call.speaks(page, FRAME);
    expect(call.commands).toEqual([]);
    call.desk.asked(call.asked()[0]!.requestId, 'done');
    call.speaks(page, FRAME);
    expect(call.commands).toEqual([{ type: 'person.sound', samples: FRAME }]);
    call.desk.event(CALL, { type: 'takeover', phase: 'ended', why: 'silent', atMs: 5 });
    call.speaks(page, FRAME);
    page.close(1000, '');
    expect(call.commands).toHaveLength(1);
    expect(call.reports()).toEqual([{ monitorId: 'm1', why: 'left', soundMs: 0, droppedFrames: 0 }]);
  });

  test.each([
    ['leaves', (_call: ReturnType<typeof makeCall>, page: Page) => page.close(1000, ''), 'left'],
    ['is shut out', (call: ReturnType<typeof makeCall>) => call.desk.end('m1', 'session_over'), 'session_over'],
  ] as const)('and %s with the call in hand gives it back at once', async (_how, happens, why) => {
    const call = makeCall();
    call.run(1);
    const page = await call.listens();
    call.says(page, { type: 'takeover', id: 1 });
    call.desk.asked(call.asked()[0]!.requestId, 'done');
    happens(call, page);
    expect(call.commands).toEqual([{ type: 'person.gone' }]);
    expect(call.reports()).toEqual([{ monitorId: 'm1', why, soundMs: 0, droppedFrames: 0, hadCall: true }]);
  });

  test('and is gone before the answer comes does not keep the call', async () => {
    const call = makeCall();
    call.run(1);
    const page = await call.listens();
    call.says(page, { type: 'takeover', id: 1 });
    page.close(1000, '');
    call.desk.asked(call.asked()[0]!.requestId, 'done');
    expect(call.commands).toEqual([{ type: 'person.gone' }]);
  });

  test.each([
    ['half a frame', (call: ReturnType<typeof makeCall>, page: Page) => call.speaks(page, new Int16Array(100))],
    [
      'more sound than a microphone has',
      (call: ReturnType<typeof makeCall>, page: Page) => {
        for (let i = 0; i < 300; i++) call.speaks(page, FRAME);
      },
    ],
    [
      'a text without end',
      (call: ReturnType<typeof makeCall>, page: Page) =>
        call.says(page, { type: 'whisper', id: 1, text: 'x'.repeat(1_001) }),
    ],
  ] as const)('and sends %s is shut out', async (_what, happens) => {
    const call = makeCall();
    call.run(1);
    const page = await call.listens();
    happens(call, page);
    expect(page.closedWith).toEqual([4400, 'bad_message']);
  });
});
