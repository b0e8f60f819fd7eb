import { describe, expect, test } from 'vitest';
import { MULAW_8K } from '../../../../../../media/contract/audio-format.ts';
import type { CallSetup } from '../../../../../../media/contract/link-messages.ts';
import { createPlivoCodecFactory } from '../../../../../../media/io/carriers/plivo/plivo-codec.ts';
import { FrameClock } from '../../../../../../media/io/frame-clock.ts';
import { CarrierLeg, type CarrierLegListener } from '../../../../../../media/io/legs/carrier/carrier-leg.ts';
import type { CallBlock } from '../../../../../../media/rings/call-block.ts';
import { attachRecordRing, PLAYED } from '../../../../../../media/rings/record-ring.ts';
import { toneSetup } from '../../../../../support/tone-setup.ts';
import { VirtualClock } from '../../../../../support/virtual-clock.ts';
import { FakeSocket } from '../../fake-socket.ts';

const setup: CallSetup = toneSetup({ callUuid: 'u-1', epoch: 3 });

function make(change: Partial<CallSetup> = {}, framesPerMessage: 1 | 3 = 1) {
  const clock = new VirtualClock();
  const socket = new FakeSocket();
  const heard = {
    log: [] as string[],
    fed: 0,
    block: null as CallBlock | null,
    record: null as SharedArrayBuffer | null,
  };
  const frameClock = new FrameClock({
    clock,
    afterTick: () => {},
  });
  const listener: CarrierLegListener = {
    started(streamId, carrierCallId, block, record) {
      heard.log.push(`started ${streamId} ${carrierCallId}`);
      heard.block = block;
      heard.record = record;
    },
    fed: () => heard.fed++,
    command: (command) => command.type === 'key' && heard.log.push(`digit ${command.key}`),
    faulted: (detail) => heard.log.push(`faulted ${detail}`),
    recovered: (gapMs) => heard.log.push(`recovered ${gapMs}`),
    failed: (error) => {
      throw error;
    },
    over: (why, durationMs) => heard.log.push(`over ${why} ${durationMs}`),
  };
  const codecFactory = createPlivoCodecFactory({ framesPerMessage });
  const leg = new CarrierLeg({ setup: { ...setup, ...change }, codecFactory, clock, frameClock, listener });
  leg.attach(socket);
  socket.onClose = () => leg.socketClosed(1000);
  const say = (message: object | string): void =>
    leg.message(Buffer.from(typeof message === 'string' ? message : JSON.stringify(message)), false);
  let chunk = 0;
  const start = (
    callId = 'carrier-call',
    mediaFormat: unknown = { encoding: 'audio/x-mulaw', sampleRate: 8000 },
  ): void => say({ event: 'start', start: { callId, streamId: 'stream', mediaFormat } });
  const audio = (timestampMs = chunk * 20): void => {
    const payload = Buffer.alloc(160, chunk & 255).toString('base64');
    say({ event: 'media', media: { track: 'inbound', timestamp: String(timestampMs), chunk: ++chunk, payload } });
  };
  return { clock, socket, heard, frameClock, leg, say, start, audio };
}

describe('a leg’s begin', () => {
  test('the start message of the claimed call makes the rings, and audio fills them', () => {
    const { clock, heard, start, audio, leg } = make();
    start();
    expect(heard.log).toEqual(['started stream carrier-call']);
    for (let i = 0; i < 3; i++) {
      clock.advanceMs(20);
      audio();
    }
    expect(heard.fed).toBe(3);
    expect(heard.block!.uplink.queuedFrames).toBe(3);
    expect(attachRecordRing(heard.record!, MULAW_8K).queuedFrames).toBe(3);
    clock.advanceMs(40);
    expect(heard.block!.streamMs).toBeGreaterThanOrEqual(80);
    expect(leg.streamMs).toBe(100);
  });

  test('a call without recording has no record ring; a carrier id that is not known yet is not checked', () => {
    const { heard, start } = make({ record: false, carrierCallId: null });
    start('whatever');
    expect(heard.log).toEqual(['started stream whatever']);
    expect(heard.record).toBeNull();
  });

  test('another call’s start is closed with 4403 and nothing is made', () => {
    const { socket, heard, start, frameClock } = make();
    start('another-call');
    expect(socket.closes).toEqual([{ code: 4403, reason: 'bad_stream' }]);
    expect(heard.log).toEqual(['over bad_stream 0']);
    expect(frameClock.clients).toBe(0);
  });

  test.each([
    ['opus', { encoding: 'audio/opus', sampleRate: 48000 }],
    ['PCM where mu-law was asked for', { encoding: 'audio/x-l16', sampleRate: 8000 }],
  ])('a stream of %s is closed with 4415', (_what, mediaFormat) => {
    const { socket, heard, start } = make();
    start('carrier-call', mediaFormat);
    expect(socket.closes[0]!.code).toBe(4415);
    expect(heard.log).toEqual(['over bad_stream 0']);
  });

  test('no start in 5 s is a bad stream, closed with 4408; no audio in 5 s after it is no_media', () => {
    const silent = make();
    silent.clock.advanceMs(4999);
    expect(silent.heard.log).toEqual([]);
    silent.clock.advanceMs(1);
    expect(silent.heard.log).toEqual(['over bad_stream 0']);
    expect(silent.socket.closes[0]!.code).toBe(4408);
    const mute = make();
    mute.clock.advanceMs(3000);
    mute.start();
    mute.clock.advanceMs(5000);
    expect(mute.heard.log.at(-1)).toBe('over no_media 5000');
    const talks = make();
    talks.start();
    talks.clock.advanceMs(4000);
    talks.audio();
    talks.clock.advanceMs(10_000);
    expect(talks.heard.log).toEqual(['started stream carrier-call']);
    expect(talks.clock.pendingTimers).toBe(1);
  });
});

describe('a leg under bad input', () => {
  test.each([
    ['text that is no JSON', 'garbage', 4400],
    ['half a message', '{"event":"media","media":{"payload":"AA', 4400],
    ['a JSON array', '[]', 4400],
  ])('%s closes the stream with %i', (_what, text, code) => {
    const { socket, heard, say, start, clock } = make();
    start();
    say(text);
    expect(socket.closes).toEqual([{ code, reason: 'bad_stream' }]);
    say('more garbage');
    expect(heard.log.filter((one) => one.startsWith('over'))).toEqual(['over bad_stream 0']);
    expect(clock.pendingTimers).toBe(0);
  });

  test('a binary message closes with 1003', () => {
    const { socket, leg } = make();
    leg.message(Buffer.from([1, 2, 3]), true);
    expect(socket.closes[0]!.code).toBe(1003);
  });

  test('ten unknown messages or bad payloads are overlooked, the eleventh closes with 4400', () => {
    const { socket, say, start } = make();
    start();
    for (let i = 0; i < 5; i++) say({ event: 'newThing' });
    for (let i = 0; i < 5; i++) say({ event: 'media', media: { track: 'inbound', payload: '!!!!' } });
    expect(socket.isOpen).toBe(true);
    say({ event: 'newThing' });
    expect(socket.closes[0]!.code).toBe(4400);
  });

  test('101 digits at once close with 1008; 15 a second for a minute do not', () => {
    const flood = make();
    flood.start();
    for (let i = 0; i < 101; i++) flood.say({ event: 'dtmf', dtmf: { digit: '1' } });
    expect(flood.socket.closes[0]!.code).toBe(1008);
    const steady = make();
    steady.start();
    for (let i = 0; i < 900; i++) {
      steady.clock.advanceMs(1000 / 15);
      if (i % 30 === 0) steady.audio();
      steady.say({ event: 'dtmf', dtmf: { digit: '1' } });
    }
    expect(steady.socket.isOpen).toBe(true);
  });

  test('audio of 10 s at once is a burst; of 11 s it is a flood, closed with 1008', () => {
    const { socket, start, audio } = make();
    start();
    for (let i = 0; i < 500; i++) audio();
    expect(socket.isOpen).toBe(true);
    for (let i = 0; i < 50; i++) audio();
    expect(socket.closes[0]!.code).toBe(1008);
  });

  test('audio before start and a second start are counted and change nothing', () => {
    const { heard, start, audio, leg } = make();
    audio();
    start();
    start('another-call');
    audio();
    expect(heard.log).toEqual(['started stream carrier-call']);
    expect(leg.counters).toMatchObject({ receivedFrames: 1, badMessages: 2 });
  });
});

describe('a leg at work', () => {
  test('digits and the carrier’s faults are passed on', () => {
    const { heard, say, start } = make();
    say({ event: 'dtmf', dtmf: { digit: '9' } });
    start();
    say({ event: 'dtmf', dtmf: { digit: '5' } });
    say({ event: 'error', reason: 'buffer_overflow' });
    expect(heard.log.slice(1)).toEqual(['digit 5', 'faulted buffer_overflow']);
  });

  test('the first frame of an utterance goes out when the pipeline rings, before the slot of the call', () => {
    const { clock, socket, heard, start, leg } = make();
    start();
    clock.advanceMs(50);
    heard.block!.downlink.tryWrite(new Uint8Array(160), 0, 160, 0, 1, 0);
    leg.serviceIfUrgent(clock.nowMs());
    expect(socket.events('playAudio').length).toBe(1);
    expect(heard.block!.sentSeq).toBe(1);
    leg.serviceIfUrgent(clock.nowMs());
    expect(socket.events('playAudio').length).toBe(1);
  });

  test('with three frames a message each goes out with 36 to 40 ms left to play, wherever in the slots’ round the utterance began', () => {
    for (let beginMs = 41; beginMs < 61; beginMs++) {
      const { clock, socket, heard, start, audio, leg } = make({}, 3);
      start();
      audio();
      clock.advanceMs(beginMs);
      const { downlink } = heard.block!;
      let seq = 0;
      const fill = (): void => {
        while (downlink.queuedFrames < 12) downlink.tryWrite(new Uint8Array(160), 0, 160, 0, ++seq, 0);
      };
      fill();
      leg.serviceIfUrgent(clock.nowMs());
      const begunAtMs = clock.nowMs();
      let sentFrames = heard.block!.sentSeq;
      const leftMs: number[] = [];
      for (let i = 0; i < 300; i++) {
        clock.advanceMs(2);
        fill();
        if (heard.block!.sentSeq === sentFrames) continue;
        leftMs.push(begunAtMs + sentFrames * 20 - clock.nowMs());
        sentFrames = heard.block!.sentSeq;
      }
      expect(leftMs.length).toBeGreaterThanOrEqual(9);
      expect([beginMs, Math.min(...leftMs)]).toEqual([beginMs, expect.toSatisfy((ms: number) => ms >= 36)]);
      expect(Math.max(...leftMs)).toBeLessThanOrEqual(40);
      expect(socket.events('playAudio').length).toBeLessThanOrEqual(13);
    }
  });

  test('a raised generation is applied at once when rung, and within 20 ms without', () => {
    const { clock, socket, heard, start, leg } = make();
    start();
    const block = heard.block!;
    for (let seq = 1; seq <= 10; seq++) block.downlink.tryWrite(new Uint8Array(160), 0, 160, 0, seq, 0);
    clock.advanceMs(40);
    block.raiseGeneration();
    leg.serviceIfUrgent(clock.nowMs());
    expect(block.appliedGeneration).toBe(1);
    expect(socket.sent.at(-1)).toEqual({ event: 'clearAudio', streamId: 'stream' });
    block.raiseGeneration();
    clock.advanceMs(20);
    expect(block.appliedGeneration).toBe(2);
  });

  test('a send that the socket refuses is counted', () => {
    const { clock, socket, heard, start, leg } = make();
    start();
    socket.result = 'dropped';
    heard.block!.downlink.tryWrite(new Uint8Array(160), 0, 160, 0, 1, 0);
    clock.advanceMs(20);
    expect(leg.counters.sendsDropped).toBe(1);
  });

  test('on a new pipeline thread the leg hands over unread audio, plays on, and tells the gap when the thread has caught up', () => {
    const { clock, socket, heard, start, audio, leg } = make();
    start();
    for (let i = 0; i < 4; i++) {
      clock.advanceMs(20);
      audio();
    }
    const lostAtMs = clock.nowMs() - 30;
    const old = heard.block!;
    old.uplink.peek();
    old.uplink.release();
    const block = leg.rebind(lostAtMs)!;
    expect(block.uplink.queuedFrames).toBe(3);
    block.uplink.peek();
    expect([block.uplink.frameSeq, block.uplink.atMs]).toEqual([2, 20]);
    clock.advanceMs(20);
    audio();
    expect(block.uplink.queuedFrames).toBe(4);
    expect(heard.log).toEqual(['started stream carrier-call']);
    while (block.uplink.peek()) block.uplink.release();
    clock.advanceMs(20);
    expect(heard.log.at(-1)).toMatch(/^recovered (4|5|6|7)\d$/);
    block.downlink.tryWrite(new Uint8Array(160), 0, 160, 0, 1, 0);
    clock.advanceMs(20);
    expect(socket.events('playAudio').length).toBe(1);
    expect(block.sentSeq).toBe(1);
  });
});

describe('a leg’s end', () => {
  test.each([
    ['the socket closes', (leg: CarrierLeg) => leg.socketClosed(1000), 'socket_closed'],
    ['we stop it', (leg: CarrierLeg) => leg.stop(), 'stopped'],
  ])('when %s it says so once, with its length, and records only what was played', (_what, end, why) => {
    const { clock, heard, start, audio, leg, frameClock } = make();
    start();
    audio();
    for (let seq = 1; seq <= 10; seq++) heard.block!.downlink.tryWrite(new Uint8Array(160), 0, 160, 0, seq, 0);
    clock.advanceMs(70);
    end(leg);
    end(leg);
    expect(heard.log.slice(1)).toEqual([`over ${why} 70`]);
    expect(frameClock.clients).toBe(0);
    expect(clock.pendingTimers).toBe(0);
    const record = attachRecordRing(heard.record!, MULAW_8K);
    let played = 0;
    while (record.peek()) {
      if (record.generation === PLAYED) played++;
      record.release();
    }
    expect(played).toBe(heard.block!.playedSeq);
    expect(played).toBe(2);
    expect(leg.rebind(0)).toBeNull();
  });

  test('the carrier’s stop event ends it like a closed socket', () => {
    const { socket, heard, say, start } = make();
    start();
    say({ event: 'stop' });
    expect(heard.log.at(-1)).toBe('over socket_closed 0');
    expect(socket.closes[0]!.code).toBe(1000);
  });
});
