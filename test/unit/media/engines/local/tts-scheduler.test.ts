import { describe, expect, it } from 'vitest';
import type { FliteVoice, PieceOfSpeech } from '../../../../../media/engines/local/flite-voice.ts';
import { createTtsScheduler, type TtsScheduler } from '../../../../../media/engines/local/tts-scheduler.ts';
import { VirtualClock } from '../../../../support/virtual-clock.ts';

/** Each piece becomes `pieceMs` of sound; texts with `!` break the engine. */
function rig(pieceMs = 1000, workMs = 0) {
  const spoken: PieceOfSpeech[] = [];
  const turns: (() => void)[] = [];
  const voice: FliteVoice = {
    speak(piece) {
      spoken.push(piece);
      clock.advanceMs(workMs);
      if (piece.text.includes('!')) throw new Error('trap');
      return new Int16Array(piece.text.trim() === '...' ? 0 : pieceMs * 16);
    },
    prepare() {},
  };
  const clock = new VirtualClock();
  const scheduler = createTtsScheduler(voice, clock, (run) => turns.push(run));
  const log: string[] = [];
  const request = (label: string, text: string, ahead = false): (() => void) =>
    scheduler.request(
      text,
      'slt',
      {
        onChunk: (chunk) => log.push(`${label}:${chunk.text.trim()}`),
        onDone: () => log.push(`${label} done`),
        onError: (error) => log.push(`${label} ${error.code}`),
      },
      ahead,
    );
  const run = (most = 1000): void => {
    for (let i = 0; i < most && turns.length > 0; i++) turns.shift()!();
  };
  return { clock, log, request, run, scheduler: scheduler satisfies TtsScheduler, spoken };
}

describe('the speech scheduler', () => {
  it('gives two requests of the same instant one piece each in turn', () => {
    const { log, request, run } = rig();
    request('a', '1. 2. 3.');
    request('b', '4. 5. 6.');
    run();
    expect(log).toEqual(['a:1.', 'b:4.', 'a:2.', 'b:5.', 'a:3.', 'a done', 'b:6.', 'b done']);
  });

  it('puts a request without sound before one that has 1 s in hand, and not before one that ran dry 1 s ago', () => {
    const { clock, log, request, run } = rig();
    request('a', '1. 2. 3.');
    run(1);
    request('b', '4.');
    run(1);
    clock.advanceMs(2000);
    request('c', '5.');
    run(1);
    expect(log).toEqual(['a:1.', 'b:4.', 'b done', 'a:2.']);
  });

  it('calls nothing of a request after its cancel', () => {
    const { log, request, run, scheduler } = rig();
    const cancel = request('a', '1. 2. 3.');
    run(1);
    cancel();
    cancel();
    run();
    expect(log).toEqual(['a:1.']);
    expect(scheduler.waitingRequests).toBe(0);
  });

  it('ends only the request on which the engine breaks', () => {
    const { log, request, run } = rig();
    request('a', '1. broken! 3.');
    request('b', '4. 5.');
    run();
    expect(log).toEqual(['a:1.', 'b:4.', 'a engine_failed', 'b:5.', 'b done']);
  });

  it('gives text without sound to the next chunk, and trims silence before the first sound only', () => {
    const { log, request, run, spoken } = rig();
    request('a', '... one. two.');
    run();
    expect(log).toEqual(['a:... one.', 'a:two.', 'a done']);
    expect(spoken.map((piece) => piece.isFirst)).toEqual([true, true, false]);
  });

  it('serves who is waited for before what is made ahead, for a second', () => {
    const { clock, log, request, run } = rig();
    request('ahead', '1.', true);
    request('live', '2.');
    run();
    expect(log).toEqual(['live:2.', 'live done', 'ahead:1.', 'ahead done']);
    log.length = 0;
    request('ahead', '1.', true);
    clock.advanceMs(1_001);
    request('live', '2.');
    run();
    expect(log).toEqual(['ahead:1.', 'ahead done', 'live:2.', 'live done']);
  });

  it('keeps room for those who are waited for when much is made ahead', () => {
    const { log, request } = rig();
    for (let i = 0; i < 129; i++) request(`ahead ${i}`, 'text', true);
    request('live', 'text');
    expect(log).toEqual(['ahead 128 overloaded']);
  });

  it('says how long it worked, and how long the most urgent request has been due', () => {
    const { clock, request, run, scheduler } = rig(1000, 30);
    expect(scheduler.lateMs).toBe(0);
    request('a', '1. 2.');
    clock.advanceMs(400);
    expect(scheduler.lateMs).toBe(400);
    run(1);
    expect(scheduler.busyMs).toBe(30);
    // A second of sound is in hand.
    expect(scheduler.lateMs).toBe(0);
  });

  it('refuses the 257th waiting request as overloaded', () => {
    const { log, request } = rig();
    for (let i = 0; i < 257; i++) request(`${i}`, 'text');
    expect(log).toEqual(['256 overloaded']);
  });

  it('starts again after a pause with nothing to do', () => {
    const { log, request, run } = rig();
    request('a', '1.');
    run();
    request('b', '2.');
    run();
    expect(log).toEqual(['a:1.', 'a done', 'b:2.', 'b done']);
  });
});
