import { describe, expect, it } from 'vitest';
import { Caller } from '../../../../bench/race/caller/caller.ts';
import { lineNoise, lineOf } from '../../../../bench/race/caller/line.ts';
import { Playout } from '../../../../bench/race/caller/playout.ts';
import { readMessage } from '../../../../bench/race/caller/read-message.ts';
import { MANNERS } from '../../../../bench/race/conversation.ts';

const QUIET = 0xff;
const LOUD = 0x90;
/** Three loud frames, a pause of 30, one loud frame, a quiet one. */
const mulaw = Uint8Array.from([...Array(3).fill(LOUD), ...Array(30).fill(QUIET), LOUD, QUIET].flatMap(frameOf));
const line = lineOf(mulaw);
const noise = lineNoise(() => 0.5);

function frameOf(code: number): number[] {
  return Array(160).fill(code);
}

/** Sends its frames from `fromMs` until `toMs`. */
function talk(caller: Caller, fromMs: number, toMs: number): void {
  for (let nowMs = fromMs; nowMs < toMs; nowMs += 20) caller.frame(nowMs);
}

describe('a line', () => {
  it('keeps no pause that would end a turn, and knows where its speech lies', () => {
    expect(line.frames).toHaveLength(10);
    expect(line).toMatchObject({ firstLoud: 0, lastLoud: 8 });
  });
});

describe('a caller', () => {
  it('times the answer from its own last sound', () => {
    const caller = new Caller([line], noise, 0, 0);
    talk(caller, 0, 1_000);
    caller.sound(160, false, 1_000);
    caller.sound(160, true, 1_010);
    expect(caller.take()).toMatchObject({ turns: 1, repliesMs: [1_010 - 160], unanswered: 0, tooEarly: 0 });
  });

  it('speaks again where there is no answer', () => {
    const caller = new Caller([line], noise, 0, 0);
    talk(caller, 0, MANNERS.patienceMs + 400);
    expect(caller.take()).toMatchObject({ turns: 2, repliesMs: [], unanswered: 1 });
  });

  it('notes an answer that comes while it speaks', () => {
    const caller = new Caller([line], noise, 0, 0);
    talk(caller, 0, 60);
    caller.sound(160, true, 70);
    expect(caller.take()).toMatchObject({ tooEarly: 1, repliesMs: [] });
  });

  it('interrupts in every third turn, and times the silence from its own first sound', () => {
    const caller = new Caller([line], noise, 2, 0);
    talk(caller, 0, 300);
    caller.sound(8 * 4_000, true, 300);
    talk(caller, 300, 1_200);
    caller.cleared(1_200);
    talk(caller, 1_200, 1_500);
    expect(caller.take()).toMatchObject({ turns: 2, silencedMs: [100], talkedOver: 0 });
  });

  it('notes an agent that talks on', () => {
    const caller = new Caller([line], noise, 2, 0);
    talk(caller, 0, 300);
    caller.sound(8 * 4_000, true, 300);
    talk(caller, 300, 1_500);
    expect(caller.take()).toMatchObject({ turns: 2, silencedMs: [], talkedOver: 1 });
  });
});

describe('what a far end hears', () => {
  it('is late by what comes after its turn, behind a buffer of 40 ms', () => {
    const playout = new Playout();
    playout.beginAnswer();
    playout.receive(160, 0);
    playout.receive(160, 55);
    playout.receive(160, 100);
    expect(playout.take()).toEqual({ lateMs: 20, playedMs: 60 });
  });

  it('ends where it is cleared', () => {
    const playout = new Playout();
    playout.receive(8_000, 0);
    playout.clear(540);
    expect(playout.isSilent(540)).toBe(true);
    expect(playout.take()).toEqual({ lateMs: 0, playedMs: 500 });
  });
});

describe('a message of a gateway', () => {
  const read = (message: object) => {
    const bytes = Buffer.from(`..${JSON.stringify(message)}`);
    return readMessage(bytes, 2, bytes.length);
  };
  const sound = (code: number) => ({
    event: 'playAudio',
    media: { contentType: 'audio/x-mulaw', sampleRate: 8000, payload: Buffer.alloc(160, code).toString('base64') },
  });

  it('is sound, loud or not, a clear, or a checkpoint', () => {
    expect(read(sound(LOUD))).toEqual({ kind: 'sound', samples: 160, isLoud: true });
    expect(read(sound(QUIET))).toEqual({ kind: 'sound', samples: 160, isLoud: false });
    expect(read({ event: 'clearAudio', streamId: 's' })).toEqual({ kind: 'clear' });
    expect(read({ event: 'checkpoint', streamId: 's', name: 'c1' })).toEqual({ kind: 'checkpoint', name: 'c1' });
    expect(read({ event: 'other' })).toEqual({ kind: 'other' });
  });
});
