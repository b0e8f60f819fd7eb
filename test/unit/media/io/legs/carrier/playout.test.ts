import { describe, expect, test } from 'vitest';
import { createRandom } from '../../../../../../bench/harness/seeded-random.ts';
import { MULAW_8K } from '../../../../../../media/contract/audio-format.ts';
import { createPlivoCodecFactory } from '../../../../../../media/io/carriers/plivo/plivo-codec.ts';
import { Playout } from '../../../../../../media/io/legs/carrier/playout.ts';
import { CallBlock } from '../../../../../../media/rings/call-block.ts';
import { createRecordRing, PLAYED } from '../../../../../../media/rings/record-ring.ts';
import { NO_STREAM_EVENTS } from '../../../../../support/fakes/no-stream-events.ts';

type Sent = { atMs: number } & (
  | { kind: 'audio'; frames: number; firstByte: number }
  | { kind: 'checkpoint'; name: string }
  | { kind: 'clear' }
);

function countsOf(values: number[]): Map<number, number> {
  const counts = new Map<number, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return counts;
}

/** A call whose pipeline, clock and far end are all in the test's hands. */
function make(framesPerMessage: 1 | 3 = 1) {
  const block = CallBlock.create(MULAW_8K);
  const record = createRecordRing(MULAW_8K).ring;
  const sent: Sent[] = [];
  const state = { nowMs: 1000, seq: 0 };
  const playout = new Playout(
    {
      format: MULAW_8K,
      framesPerMessage,
      codec: createPlivoCodecFactory({ framesPerMessage }).create(MULAW_8K, NO_STREAM_EVENTS),
      socket: {
        send(bytes) {
          const message = JSON.parse(Buffer.from(bytes).toString());
          const atMs = state.nowMs;
          if (message.event === 'playAudio') {
            const audio = Buffer.from(message.media.payload, 'base64');
            sent.push({ kind: 'audio', frames: audio.length / 160, firstByte: audio[0]!, atMs });
          } else if (message.event === 'checkpoint') sent.push({ kind: 'checkpoint', name: message.name, atMs });
          else if (message.event === 'clearAudio') sent.push({ kind: 'clear', atMs });
          return 'sent';
        },
      },
      record,
      startedAtMs: 1000,
    },
    block,
  );
  /** Writes frames of the given generation, each filled with that generation's number. */
  const speak = (frames: number, generation = block.generation): void => {
    const frame = Buffer.alloc(160, generation);
    for (let i = 0; i < frames; i++) block.downlink.tryWrite(frame, 0, 160, generation, ++state.seq, 0);
  };
  const serve = (): void => playout.service(state.nowMs);
  /** Serves every 20 ms, calling `before` each time. */
  const run = (forMs: number, before: () => void = () => {}): void => {
    for (let atMs = 0; atMs < forMs; atMs += 20) {
      before();
      serve();
      state.nowMs += 20;
    }
  };
  const audioFrames = (): number => sent.reduce((sum, one) => sum + (one.kind === 'audio' ? one.frames : 0), 0);
  const recorded = (): number[] => {
    const atMs: number[] = [];
    while (record.peek()) {
      expect(record.generation).toBe(PLAYED);
      atMs.push(record.atMs);
      record.release();
    }
    return atMs;
  };
  return { block, sent, state, playout, speak, serve, run, audioFrames, recorded };
}

describe.each([1, 3] as const)('playout with %i frames a message', (framesPerMessage) => {
  test('ten seconds of speech: 500 frames in real time, lead never above 100 ms, never dry', () => {
    const call = make(framesPerMessage);
    const leads: number[] = [];
    call.run(10_000, () => {
      while (call.block.downlink.queuedFrames < 10) call.speak(1);
      if (call.audioFrames() > 0) leads.push(call.playout.leadMs(call.state.nowMs));
    });
    expect(Math.max(...leads) + 0).toBeLessThanOrEqual(100);
    expect(Math.min(...leads)).toBeGreaterThanOrEqual(20);
    expect(call.playout.leadMs(call.state.nowMs - 20)).toBeLessThanOrEqual(100);
    expect(call.audioFrames()).toBeGreaterThanOrEqual(500);
    expect(call.audioFrames()).toBeLessThanOrEqual(505);
    expect(call.block.underrunFrames).toBe(0);
    const messages = call.sent.filter((one) => one.kind === 'audio').length;
    expect(messages).toBeLessThanOrEqual(framesPerMessage === 3 ? 175 : 505);
  });

  test('an utterance of 7 frames is sent and played whole, its playhead and record true to 20 ms', () => {
    const call = make(framesPerMessage);
    call.speak(7);
    call.run(400);
    expect(call.audioFrames()).toBe(7);
    expect(call.block.sentSeq).toBe(7);
    expect(call.block.playedSeq).toBe(7);
    expect(call.recorded()).toEqual([0, 20, 40, 60, 80, 100, 120]);
    expect(call.block.underrunFrames).toBe(0);
    expect(call.sent.at(-1)).toMatchObject({ kind: 'checkpoint', name: 'g0-7' });
  });

  test('the playhead follows time: after 100 ms of a long utterance 5 frames have been played', () => {
    const call = make(framesPerMessage);
    call.speak(20);
    call.run(120, () => {
      if (call.block.downlink.freeFrames > 5) call.speak(1);
    });
    // The last service was at 100 ms.
    expect(call.block.playedSeq).toBe(5);
  });

  test('barge-in: clear at the next service, no frame of the old generation after it, playedSeq is what was heard', () => {
    const call = make(framesPerMessage);
    call.speak(20);
    call.run(120);
    expect(call.block.playedSeq).toBe(5);
    const generation = call.block.raiseGeneration();
    // The pipeline had not noticed yet: one more of the old, then the new.
    call.speak(1, 0);
    call.speak(4, generation);
    call.serve();
    expect(call.block.appliedGeneration).toBe(generation);
    expect(call.block.playedSeq).toBe(6);
    call.run(200);
    const clearAt = call.sent.findIndex((one) => one.kind === 'clear');
    expect(clearAt).toBeGreaterThan(0);
    const after = call.sent.slice(clearAt + 1).filter((one) => one.kind === 'audio');
    expect(after.every((one) => one.firstByte === generation)).toBe(true);
    expect(after.reduce((sum, one) => sum + one.frames, 0)).toBe(4);
    // 6 old frames heard, the rest of the old ones neither played nor recorded, then the 4 new ones.
    expect(call.recorded()).toEqual([0, 20, 40, 60, 80, 100, 120, 140, 160, 180]);
    expect(call.playout.droppedFrames).toBe(21 - 6);
    expect(call.sent.filter((one) => one.kind === 'clear').length).toBe(1);
  });

  test('a generation raised in silence sends no clear, and is applied', () => {
    const call = make(framesPerMessage);
    call.block.raiseGeneration();
    call.serve();
    expect(call.block.appliedGeneration).toBe(1);
    expect(call.sent).toEqual([]);
  });

  test('a random conversation of 2,000 services keeps every invariant', () => {
    for (let seed = 1; seed <= 20; seed++) {
      const call = make(framesPerMessage);
      const next = createRandom(seed);
      let clearedUpTo = 0;
      let seen = 0;
      for (let i = 0; i < 2000; i++) {
        if (next() < 0.7) call.speak(Math.floor(next() * 3));
        if (next() < 0.02) call.block.raiseGeneration();
        if (next() < 0.01) call.speak(2, Math.max(0, call.block.generation - 1));
        call.serve();
        expect(call.block.appliedGeneration).toBe(call.block.generation);
        expect(call.playout.leadMs(call.state.nowMs)).toBeLessThanOrEqual(100);
        expect(call.block.playedSeq).toBeLessThanOrEqual(call.block.sentSeq);
        for (; seen < call.sent.length; seen++) {
          const one = call.sent[seen]!;
          if (one.kind === 'clear') clearedUpTo = call.block.appliedGeneration;
          if (one.kind === 'audio') expect(one.firstByte).toBeGreaterThanOrEqual(clearedUpTo & 255);
          if (one.kind === 'checkpoint' && next() < 0.8) call.playout.acknowledged(one.name, call.state.nowMs);
        }
        call.state.nowMs += next() < 0.02 ? 150 : 20;
      }
      const recorded = call.recorded();
      for (let i = 1; i < recorded.length; i++) expect(recorded[i]! - recorded[i - 1]!).toBeGreaterThanOrEqual(19);
    }
  });
});

describe('playout', () => {
  test.each([0, 3, 9.9, 10, 10.1, 17, 19.9])(
    'begun %f ms before its slot and served up to 4 ms late each time, a call sends exactly one frame a service',
    (beforeSlotMs) => {
      const call = make();
      const slotZeroMs = call.state.nowMs + beforeSlotMs;
      call.speak(10);
      call.serve();
      for (let slot = 0; slot < 500; slot++) {
        call.state.nowMs = slotZeroMs + slot * 20 + ((slot * 7) % 5);
        while (call.block.downlink.queuedFrames < 10) call.speak(1);
        call.serve();
      }
      const atMs = call.sent.filter(({ kind }) => kind === 'audio').map((one) => one.atMs);
      const perService = countsOf(atMs.filter((ms) => ms > slotZeroMs + 100));
      expect(Math.max(...perService.values())).toBe(1);
      expect(perService.size).toBeGreaterThanOrEqual(494);
    },
  );

  test('speech that begins is urgent at once; what runs is not; a raised generation is', () => {
    const call = make();
    expect(call.playout.isUrgent(call.state.nowMs)).toBe(false);
    call.speak(1);
    expect(call.playout.isUrgent(call.state.nowMs)).toBe(true);
    call.speak(9);
    call.serve();
    expect(call.playout.isUrgent(call.state.nowMs)).toBe(false);
    expect(call.playout.firstSentMs).toBe(0);
    call.block.raiseGeneration();
    expect(call.playout.isUrgent(call.state.nowMs)).toBe(true);
  });

  test('a stall of 300 ms of our own is caught up within the lead, and counted as 11 frames of underrun', () => {
    const call = make();
    call.speak(20);
    call.run(100);
    const before = call.audioFrames();
    call.state.nowMs += 280;
    call.serve();
    // Not the 280 ms that were missed, but only what the far end may be ahead.
    expect(call.audioFrames() - before).toBe(4);
    expect(call.playout.leadMs(call.state.nowMs)).toBeLessThanOrEqual(80);
    expect(call.block.underrunFrames).toBe(11);
  });

  test('a ring that runs empty for 60 ms in an utterance counts 3 frames; a pause of 400 ms counts none', () => {
    const call = make();
    call.speak(5);
    call.run(160);
    call.speak(5);
    call.run(500);
    expect(call.block.underrunFrames).toBe(3);
    call.speak(5);
    call.run(200);
    expect(call.block.underrunFrames).toBe(3);
  });

  test('checkpoints go out every 10 frames and behind the last', () => {
    const call = make();
    let spoken = 0;
    call.run(1000, () => {
      while (spoken < 25 && call.block.downlink.queuedFrames < 10) {
        call.speak(1);
        spoken++;
      }
    });
    const names = call.sent.flatMap((one) => (one.kind === 'checkpoint' ? [one.name] : []));
    expect(names).toEqual(['g0-10', 'g0-20', 'g0-25']);
  });

  test('a far end that says it has played a frame is believed at once', () => {
    const call = make();
    call.speak(10);
    call.run(140);
    expect(call.sent.some((one) => one.kind === 'checkpoint')).toBe(true);
    expect(call.block.playedSeq).toBeLessThan(10);
    call.playout.acknowledged('g0-10', call.state.nowMs);
    expect(call.block.playedSeq).toBe(10);
  });

  test('a constant delay of acknowledgements moves nothing; two that come 120 ms later than usual move the playhead by that', () => {
    const call = make();
    let delayMs = 150;
    const due: { name: string; atMs: number }[] = [];
    let seen = 0;
    const step = (): void => {
      while (call.block.downlink.queuedFrames < 10) call.speak(1);
      for (; seen < call.sent.length; seen++) {
        const one = call.sent[seen]!;
        // The frame before the checkpoint ends when all that was sent has been played.
        if (one.kind === 'checkpoint') due.push({ name: one.name, atMs: one.atMs + 80 + delayMs });
      }
      while (due.length > 0 && due[0]!.atMs <= call.state.nowMs) {
        call.playout.acknowledged(due.shift()!.name, call.state.nowMs);
      }
    };
    call.run(3000, step);
    const behindBefore = call.block.sentSeq - call.block.playedSeq;
    expect(behindBefore).toBeLessThanOrEqual(4);
    delayMs = 270;
    call.run(1200, step);
    // The lead is now counted from where the far end really is: nothing more is piled onto it.
    expect(call.playout.leadMs(call.state.nowMs)).toBeLessThanOrEqual(100);
    const playedMs = call.block.playedSeq * 20;
    expect(call.state.nowMs - 1000 - playedMs).toBeGreaterThanOrEqual(100);
    expect(call.state.nowMs - 1000 - playedMs).toBeLessThanOrEqual(180);
  });

  test('acknowledgements of an older generation, of nothing sent, and foreign names change nothing', () => {
    const call = make();
    call.speak(10);
    call.run(60);
    call.block.raiseGeneration();
    call.serve();
    const played = call.block.playedSeq;
    for (const name of ['g0-10', 'g1-99', 'g1-', 'x', '', 'gx-1', 'g1-NaN', 'g-1']) {
      call.playout.acknowledged(name, call.state.nowMs);
    }
    call.serve();
    expect(call.block.playedSeq).toBe(played);
  });

  test('on another pipeline thread, numbers begin anew and what is under way is recorded but is nobody’s playhead', () => {
    const call = make();
    call.speak(10);
    call.run(60);
    const block = CallBlock.create(MULAW_8K);
    call.playout.rebind(block);
    call.run(200);
    expect(block.playedSeq).toBe(0);
    expect(call.recorded().length).toBe(call.audioFrames());
    block.downlink.tryWrite(Buffer.alloc(160, 9), 0, 160, 0, 1, 0);
    call.run(60);
    expect([block.sentSeq, block.playedSeq]).toEqual([1, 1]);
  });

  test('when the socket goes, only what was played by then counts', () => {
    const call = make();
    call.speak(10);
    call.run(60);
    call.playout.finish(call.state.nowMs);
    expect(call.block.playedSeq).toBe(3);
    expect(call.recorded()).toEqual([0, 20, 40]);
  });
});
