import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { LATENCIES, LINES } from '../../../../bench/race/conversation.ts';
import { Recogniser } from '../../../../bench/race/providers/recogniser.ts';

interface Told {
  type: string;
  is_final?: boolean;
  speech_final?: boolean;
  from_finalize?: boolean;
  channel: { alternatives: { transcript: string }[] };
}

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function listening(encoding: 'mulaw' | 'linear16') {
  const told: Told[] = [];
  const recogniser = new Recogniser({
    ...{ encoding, rateHz: 8_000, tellsStarts: true, requestId: 'r' },
    say: (message) => told.push(message as Told),
  });
  const frame = (isLoud: boolean): Uint8Array =>
    encoding === 'mulaw'
      ? new Uint8Array(160).fill(isLoud ? 0x90 : 0xff)
      : new Uint8Array(new Int16Array(160).fill(isLoud ? 8_000 : 0).buffer);
  const say = (isLoud: boolean, frames: number): void => {
    for (let i = 0; i < frames; i++) {
      recogniser.sound(frame(isLoud));
      vi.advanceTimersByTime(20);
    }
  };
  return { recogniser, told, say };
}

describe.each(['mulaw', 'linear16'] as const)('the recogniser of the race, of %s', (encoding) => {
  it('tells the words of a line after its pause, and the next line next', () => {
    const { told, say } = listening(encoding);
    for (const line of [0, 1]) {
      say(true, 50);
      // 200 ms of pause, then 150 ms; the frame that completes the pause comes at its beginning.
      say(false, 16);
      expect(told.filter((one) => one.is_final)).toHaveLength(line);
      say(false, 1);
      const finals = told.filter((one) => one.is_final);
      expect(finals).toHaveLength(line + 1);
      expect(finals[line]).toMatchObject({ speech_final: true, from_finalize: false });
      expect(finals[line]!.channel.alternatives[0]!.transcript).toBe(LINES[line]);
      say(false, 33);
    }
    expect(told.filter(({ type }) => type === 'SpeechStarted')).toHaveLength(2);
  });

  it('tells what it has when it is asked, and nothing after that', () => {
    const { recogniser, told, say } = listening(encoding);
    say(true, 50);
    recogniser.command('Finalize');
    vi.advanceTimersByTime(LATENCIES.finalMs);
    expect(told.at(-1)).toMatchObject({ is_final: true, speech_final: false, from_finalize: true });
    say(false, 50);
    expect(told.filter((one) => one.is_final)).toHaveLength(1);
  });

  it('hears no line in a click', () => {
    const { told, say } = listening(encoding);
    say(true, 1);
    say(false, 50);
    expect(told).toHaveLength(0);
  });
});
