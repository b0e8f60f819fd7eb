import { describe, expect, it } from 'vitest';
import { Conversation } from '../../../../bench/emulators/callees/conversation.ts';
import { createLineRenderer } from '../../../../bench/emulators/callees/line-renderer.ts';
import { createSpeakingCallee } from '../../../../bench/emulators/callees/speaking-callee.ts';
import { type PersonaInput, parsePersonas, type SpeakingPersona } from '../../../../bench/emulators/persona.ts';
import type { Recognition, SpeechToText, TextToSpeech } from '../../../../media/contract/engines.ts';

const AGENT_SOUND = 0x10;
const SILENCE = 0xff;

function persona(change: Partial<Extract<PersonaInput, { kind: 'speaking' }>>): SpeakingPersona {
  const base = { kind: 'speaking' as const, name: 'P', number: '*', voice: 'slt' as const, listens: [] };
  return parsePersonas([{ ...base, ...change }])[0] as SpeakingPersona;
}

/** Speaks 10 ms of 8 kHz sound a character. */
const textToSpeech: TextToSpeech & { requests: string[] } = {
  requests: [],
  outputRateHz: 8_000,
  voices: ['slt'],
  async synthesize({ text }, onChunk) {
    this.requests.push(text);
    onChunk({ samples: new Int16Array(80 * text.length).fill(5_000), text });
  },
};

/**
 * A recogniser that is told what it hears: partials at so many ms of sound, and the final text, `lateMs` after it was
 * asked for. `hearing` gives it the time, 20 ms at a time.
 */
function recogniser(utterances: { partials?: Record<number, string>; final: string; lateMs?: number }[]) {
  const grammars: string[][] = [];
  const late: { leftMs: number; tell(): void }[] = [];
  const engine: SpeechToText = {
    inputRateHz: 8_000,
    open(grammar, onResult: (result: Recognition) => void) {
      grammars.push([...grammar.phrases]);
      const utterance = utterances.shift() ?? { final: '' };
      let heardMs = 0;
      return {
        push(samples) {
          heardMs += samples.length / 8;
          const partial = utterance.partials?.[heardMs];
          if (partial !== undefined) onResult({ text: partial, rejected: false, final: false });
        },
        conclude() {},
        goOn() {},
        finish() {
          const tell = () => onResult({ text: utterance.final, rejected: utterance.final === '', final: true });
          if (utterance.lateMs === undefined) tell();
          else late.push({ leftMs: utterance.lateMs, tell });
        },
        cancel() {},
      };
    },
  };
  const hearing = () => {
    for (const one of late) {
      one.leftMs -= 20;
      if (one.leftMs === 0) one.tell();
    }
  };
  return { engine, grammars, hearing };
}

async function run(
  script: SpeakingPersona,
  /** Alternating ms of agent sound and of silence, beginning with silence. */
  sounds: number[],
  utterances: Parameters<typeof recogniser>[0],
) {
  const { engine, grammars, hearing } = recogniser(utterances);
  const log: string[] = [];
  let nowMs = 0;
  const callee = createSpeakingCallee(
    script,
    {
      said: (text, interrupting) => log.push(`${nowMs} ${interrupting ? 'interrupts' : 'says'} ${text}`),
      saidAll: () => log.push(`${nowMs} over`),
      heard: (text, understood) => log.push(`${nowMs} ${understood ? 'understood' : 'heard'} ${text}`),
      hangUp: () => log.push(`${nowMs} hangs up`),
      warning: (message) => log.push(message),
    },
    {
      renderer: createLineRenderer(textToSpeech),
      speechToText: engine,
      createVoiceActivity: () => ({ isSpeech: (samples) => samples[0]! !== 0, close() {} }),
    },
  );
  await callee.prepare();
  const frame = new Uint8Array(160);
  let sentFrames = 0;
  for (const [i, ms] of sounds.entries()) {
    for (let untilMs = nowMs + ms; nowMs < untilMs; nowMs += 20) {
      callee.hear(frame.fill(i % 2 === 0 ? SILENCE : AGENT_SOUND), 160);
      hearing();
      callee.fill(frame, 0);
      if (frame.some((byte) => byte !== SILENCE)) sentFrames++;
    }
  }
  callee.close();
  return { log, grammars, sentFrames };
}

describe('a callee that speaks', () => {
  it('answers a cue 1000 ms after the end of the agent’s words, and sends its whole line', async () => {
    const script = persona({ listens: [{ hears: ['can you come'], says: 'yes please', afterMs: 1_000 }] });
    const { log, sentFrames } = await run(script, [200, 600, 2_000], [{ final: 'can you come' }]);
    expect(log).toEqual(['1480 understood can you come', '1780 says yes please', '1860 over']);
    expect(sentFrames).toBe(5);
  });

  it('answers no sooner than its patience of 700 ms shows that the agent has finished', async () => {
    const script = persona({ listens: [{ hears: ['can you come'], says: 'yes', afterMs: 0 }] });
    const { log } = await run(script, [200, 600, 2_000], [{ final: 'can you come' }]);
    expect(log[1]).toBe('1480 says yes');
  });

  it('takes a pause of 600 ms inside the agent’s words for part of them', async () => {
    const script = persona({ listens: [{ hears: ['a'], says: 'yes' }] });
    const { log, grammars } = await run(script, [200, 600, 600, 400, 1_000], [{ final: 'a' }]);
    expect(grammars).toHaveLength(1);
    expect(log.filter((line) => line.includes('understood'))).toHaveLength(1);
  });

  it('waits for a recogniser that is 10 s late, as on a busy machine, rather than ask again', async () => {
    const otherwise = { says: 'pardon', times: 20, afterMs: 0 };
    const script = persona({ listens: [{ hears: ['can you come'], says: 'yes please' }], otherwise });
    const { log } = await run(script, [200, 600, 12_000], [{ final: 'can you come', lateMs: 10_000 }]);
    expect(log.filter((line) => line.includes('says'))).toEqual(['11460 says yes please']);
  });

  it('counts words as not understood when the recogniser is silent for 30 s', async () => {
    const otherwise = { says: 'pardon', times: 20, afterMs: 0 };
    const script = persona({ listens: [{ hears: ['a'], says: 'yes' }], otherwise, hangsUpAfterSilenceMs: 60_000 });
    const { log } = await run(script, [200, 600, 32_000], [{ final: 'a', lateMs: 90_000 }]);
    expect(log.slice(0, 3)).toEqual(['the recogniser did not answer in 30 s', '31480 heard ', '31480 says pardon']);
  });

  it('listens to no third utterance while a recogniser owes it two, and answers what it heard first', async () => {
    const otherwise = { says: 'pardon', times: 20, afterMs: 0 };
    const script = persona({ listens: [{ hears: ['can you come'], says: 'yes please', repeats: true }], otherwise });
    const { log, grammars } = await run(
      script,
      [200, 600, 2_400, 600, 2_400, 600, 8_000],
      [
        { final: 'can you come', lateMs: 8_000 },
        { final: '', lateMs: 8_000 },
        { final: '', lateMs: 8_000 },
      ],
    );
    expect(grammars).toHaveLength(2);
    expect(log.filter((line) => line.includes('says'))[0]).toMatch(/says yes please$/);
    expect(log.filter((line) => line.includes('heard'))).toHaveLength(1);
  });

  it('interrupts 1500 ms into the agent’s words when the cue came before, and ignores the rest of them', async () => {
    const script = persona({
      listens: [
        { hears: ['second floor'], says: 'where can i park', interruptsAfterMs: 1_500 },
        { hears: ['parking'], says: 'wrong' },
      ],
    });
    const { log } = await run(script, [200, 3_000, 2_000], [{ partials: { 800: 'second floor' }, final: 'parking' }]);
    expect(log.filter((line) => line.includes('heard') || line.includes('understood'))).toHaveLength(1);
    const interrupts = log.find((line) => line.includes('interrupts'))!;
    const startMs = 200;
    expect(interrupts).toBe(`${startMs + 1_480} interrupts where can i park`);
    expect(log.some((line) => line.includes('wrong'))).toBe(false);
  });

  it('interrupts as soon as the cue is recognised when that is later than asked', async () => {
    const script = persona({ listens: [{ hears: ['second floor'], says: 'stop', interruptsAfterMs: 100 }] });
    const { log } = await run(script, [200, 3_000, 1_000], [{ partials: { 1600: 'second floor' }, final: '' }]);
    const atMs = Number(log[0]!.split(' ')[0]);
    expect(log[0]).toContain('understood second floor');
    expect(log[1]).toBe(`${atMs} interrupts stop`);
    expect(atMs).toBeGreaterThan(1_000);
  });

  it('waits with its answer while the agent goes on', async () => {
    const script = persona({ patienceMs: 200, listens: [{ hears: ['a'], says: 'yes', afterMs: 500 }] });
    const { log } = await run(script, [200, 400, 300, 800, 1_000], [{ final: 'a' }, { final: '' }]);
    const saysAtMs = Number(log.find((line) => line.includes('says'))!.split(' ')[0]);
    expect(saysAtMs).toBeGreaterThanOrEqual(200 + 400 + 300 + 800 + 180);
  });

  it('hangs up 500 ms after the last word of a line that says so', async () => {
    const script = persona({ listens: [{ hears: ['bye'], says: 'goodbye', afterMs: 700, thenHangsUpAfterMs: 500 }] });
    const { log } = await run(script, [200, 600, 1_600], [{ final: 'bye' }]);
    const overAtMs = Number(log.find((line) => line.endsWith('over'))!.split(' ')[0]);
    const hangsUpAtMs = Number(log.find((line) => line.endsWith('hangs up'))!.split(' ')[0]);
    expect(hangsUpAtMs - overAtMs).toBe(500);
  });

  it('hangs up after 5 s of silence on both sides, not sooner', async () => {
    const { log } = await run(persona({ hangsUpAfterSilenceMs: 5_000 }), [4_980], []);
    expect(log).toEqual([]);
    const later = await run(persona({ hangsUpAfterSilenceMs: 5_000 }), [5_000], []);
    expect(later.log).toEqual(['4980 hangs up']);
  });

  it('listens for the cues that are still open, and renders each line once for all calls', async () => {
    const script = persona({
      greets: 'hello',
      listens: [
        { hears: ['one'], says: 'line one' },
        { hears: ['two', 'too'], says: 'line two', repeats: true },
      ],
    });
    textToSpeech.requests = [];
    const { grammars, log } = await run(script, [400, 600, 1_400, 600, 1_400], [{ final: 'one' }, { final: 'too' }]);
    expect(grammars).toEqual([
      ['one', 'two', 'too'],
      ['two', 'too'],
    ]);
    expect(log[0]).toBe('0 says hello');
    expect(textToSpeech.requests).toEqual(['hello', 'line one', 'line two']);
  });
});

describe('a conversation', () => {
  const script = persona({
    listens: [
      { hears: ['park'], says: 'thanks' },
      { hears: ['park', 'again'], saysAgain: true, repeats: true },
    ],
    otherwise: { says: 'pardon', afterMs: 0, times: 1 },
  });

  it('matches whole words only, in order, each entry once', () => {
    const conversation = new Conversation(script);
    expect(conversation.heard('parking', 0)).toBe(false);
    expect(conversation.next(0, false)?.text).toBe('pardon');
    expect(conversation.heard('parking', 0)).toBe(false);
    expect(conversation.next(10_000, false)).toBeNull();
    expect(conversation.heard('you can park there', 0)).toBe(true);
    expect(conversation.next(299, false)).toBeNull();
    expect(conversation.next(300, true)).toBeNull();
    expect(conversation.next(300, false)?.text).toBe('thanks');
    expect(conversation.heard('park', 1_000)).toBe(true);
    expect(conversation.next(2_000, false)?.text).toBe('thanks');
  });
});

describe('personas', () => {
  it('are refused with the path of each fault', () => {
    expect(() =>
      parsePersonas([{ kind: 'speaking', name: 'x', number: '+1555', listens: [{ hears: ['Upper'] }] }]),
    ).toThrow(/0\.listens\.0\.hears\.0/);
    expect(() => parsePersonas([{ kind: 'silent', name: 'x', number: '+1555', outcom: 'busy' }])).toThrow(/outcom/);
  });
});
