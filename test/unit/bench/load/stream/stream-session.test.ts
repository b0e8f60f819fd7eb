/** The carrier's side of a stream in virtual time: when marks come back, what a clear drops, how a call ends. */
import { EventEmitter } from 'node:events';
import { expect, test } from 'vitest';
import type { WebSocket } from 'ws';
import { FrameClock } from '../../../../../bench/emulators/frame-clock.ts';
import { Phone } from '../../../../../bench/load/far-end/phone.ts';
import { type SessionEnd, StreamSession } from '../../../../../bench/load/targets/stream/stream-session.ts';
import { twilioProtocol } from '../../../../../bench/load/targets/stream/twilio/twilio-protocol.ts';
import { VirtualClock } from '../../../../support/virtual-clock.ts';
import { tone } from '../emulated-target.ts';

class FakeSocket extends EventEmitter {
  readyState = 1;
  bufferedAmount = 0;
  sent: { event: string; mark?: { name: string }; streamSid: string }[] = [];
  closed: number[] = [];
  send(text: string): void {
    this.sent.push(JSON.parse(text));
  }
  close(code: number): void {
    this.closed.push(code);
    this.readyState = 2;
  }
  terminate(): void {
    this.readyState = 3;
    this.emit('close', 1006);
  }
  resume(): void {}
}

function talk(lengthMs = 10_000) {
  const clock = new VirtualClock();
  const socket = new FakeSocket();
  const ends: SessionEnd[] = [];
  let phone: Phone | undefined;
  const session = new StreamSession({
    socket: socket as unknown as WebSocket,
    wire: twilioProtocol.createWire({ callId: 'CA1', parameters: {}, epochMs: () => 0 }),
    clock,
    frameClock: new FrameClock(clock),
    lengthMs,
    answer: (send) => {
      phone = new Phone({
        planned: {
          ...{ index: 0, atMs: 0, caller: 'c', by: 'phone', codec: 'mulaw', ringMs: 0, outcome: 'answer', seed: 1 },
          ...{ lengthMs, talk: { kind: 'silent' }, resumesAtMs: null },
          network: { delayMs: 0, jitterMs: 0, lossShare: 0 },
        },
        answeredAtMs: 0,
        clock,
        clips: [],
        send,
        frameSent: () => {},
        recording: null,
        gapBufferMs: 60,
        expectSignal: false,
      });
      return phone;
    },
    onEnd: (end) => ends.push(end),
  });
  const { streamSid } = socket.sent[1]!;
  return {
    clock,
    socket,
    ends,
    session,
    judged: () => phone!.finish(clock.nowMs()),
    target: (message: object) => socket.emit('message', Buffer.from(JSON.stringify({ ...message, streamSid })), false),
    sound: (ms: number) => ({ event: 'media', media: { payload: Buffer.from(tone(ms)).toString('base64') } }),
    marks: () => socket.sent.flatMap(({ mark }) => (mark === undefined ? [] : [mark.name])),
    count: (event: string) => socket.sent.filter((message) => message.event === event).length,
  };
}

const mark = (name: string): object => ({ event: 'mark', mark: { name } });

test('a mark comes back when what stood before it was played, at once when nothing waits', () => {
  const { clock, target, sound, marks } = talk();
  target(mark('first'));
  expect(marks()).toEqual(['first']);
  target(sound(500));
  target(mark('second'));
  target(sound(1_000));
  target(mark('third'));
  clock.advanceMs(490);
  expect(marks()).toEqual(['first']);
  clock.advanceMs(40);
  expect(marks()).toEqual(['first', 'second']);
  clock.advanceMs(950);
  expect(marks()).toEqual(['first', 'second']);
  clock.advanceMs(50);
  expect(marks()).toEqual(['first', 'second', 'third']);
});

test('a clear sends the marks that waited back and what they waited for is not heard', () => {
  const { clock, target, sound, marks, judged } = talk();
  target(sound(2_000));
  target(mark('a'));
  target(mark('b'));
  clock.advanceMs(600);
  target({ event: 'clear' });
  expect(marks()).toEqual(['a', 'b']);
  clock.advanceMs(3_000);
  expect(marks()).toEqual(['a', 'b']);
  expect(judged().sound).toMatchObject({ audioMs: 600, streamedMs: 600 });
});

test('frames go out each 20 ms until the far end hangs up, and nothing after that', () => {
  const { clock, socket, ends, count, target } = talk(1_000);
  clock.advanceMs(999);
  expect(count('media')).toBe(49);
  clock.advanceMs(3_000);
  expect(count('media')).toBe(49);
  expect(socket.sent.at(-1)!.event).toBe('stop');
  expect(socket.closed).toEqual([1000]);
  target(mark('late'));
  expect(socket.sent.at(-1)!.event).toBe('stop');
  expect(ends).toEqual([
    { endedAtMs: 1_000, endedBy: 'far_end', closeCode: null, isStalled: false, faults: 0, firstFault: null },
  ]);
  expect(clock.pendingTimers).toBe(0);
});

test('a target that closes, and one that reads no more, end the call', () => {
  const closes = talk();
  closes.clock.advanceMs(100);
  closes.socket.emit('message', Buffer.from('?'), false);
  closes.socket.emit('close', 1000);
  expect(closes.ends).toMatchObject([{ endedBy: 'target', closeCode: 1000, isStalled: false, faults: 1 }]);
  closes.session.hangUp();
  expect(closes.ends.length).toBe(1);

  const stalls = talk();
  stalls.socket.bufferedAmount = 2_000_000;
  stalls.clock.advanceMs(100);
  expect(stalls.ends).toMatchObject([{ endedBy: 'target', closeCode: 1006, isStalled: true }]);
  expect(stalls.clock.pendingTimers).toBe(0);
});

test.each([
  ['playAudio', /^the event "playAudio", which is Plivo audio streaming: --protocol plivo\?$/],
  ['hello', /^the event "hello"$/],
])('of the event %s it is said whose protocol it is, if it is one’s', (event, told) => {
  const { session, target, ends } = talk();
  target({ event });
  session.hangUp();
  expect(ends[0]).toMatchObject({ faults: 1, firstFault: expect.stringMatching(told) });
});
