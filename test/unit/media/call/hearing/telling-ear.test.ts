/**
 * A recogniser that hears the whole call and tells turns, word times and confidence of its own: what the call makes of
 * it.
 */
import { afterEach, expect, test } from 'vitest';
import type { AgentEvent, AgentKind } from '../../../../../media/contract/agent.ts';
import type { ScriptedAgent } from '../../../../../media/contract/agent-definition.ts';
import type { CallEar, EarHints, EarListener, EarTraits, EarWords } from '../../../../../media/contract/ear.ts';
import { type FakeCall, type FakeCallOptions, fakeCall } from '../../../../support/fakes/fake-call.ts';
import { Echo, echoKind } from '../../agents/echo-agent.ts';

const OPENING = 'This is an echo, say something that I can say back.';
const TIMES = [
  { text: 'good', startMs: 5_000, endMs: 5_200 },
  { text: 'morning', startMs: 5_200, endMs: 5_600 },
];

const TRAITS: EarTraits = {
  rateHz: 8000,
  codec: 'pcm_s16le',
  hears: 'everything',
  tellsTurns: true,
  tellsWordTimes: true,
  tellsConfidence: true,
};

class TellingEar implements CallEar {
  readonly traits: EarTraits = TRAITS;
  readonly listener: EarListener;
  readonly framesAtMs: number[] = [];
  readonly mulawAtMs: number[] = [];
  readonly seen: string[] = [];
  turn = 0;
  hints: EarHints = { phrases: [] };

  constructor(listener: EarListener) {
    this.listener = listener;
  }
  tell(words: Omit<EarWords, 'turn' | 'rejected'>): void {
    this.listener.words({ rejected: false, ...words, turn: this.turn });
  }
  push(_samples: Int16Array, atMs: number): void {
    this.framesAtMs.push(atMs);
  }
  pushMulaw(mulawBytes: Uint8Array, atMs: number): void {
    if (mulawBytes.length === 160) this.mulawAtMs.push(atMs);
  }
  hint(hints: EarHints): void {
    this.hints = hints;
  }
  turnBegan(turn: number): void {
    this.turn = turn;
    this.seen.push('began');
  }
  mayBeOver(): void {}
  wentOn(): void {}
  turnOver(): void {
    this.seen.push('over');
  }
  turnDropped(): void {
    this.seen.push('dropped');
  }
  close(): void {
    this.seen.push('closed');
  }
}

let call: FakeCall;
let ear: TellingEar;
const told: AgentEvent[] = [];

class Told extends Echo {
  override handle(event: AgentEvent): void {
    if (event.type === 'heard' || event.type === 'caller') told.push({ ...event });
    super.handle(event);
  }
}
const kind: AgentKind<ScriptedAgent> = { ...echoKind, create: (context) => new Told(context) };

async function opened(options: FakeCallOptions = {}): Promise<void> {
  told.length = 0;
  const earOf = (listener: EarListener) => (ear = new TellingEar(listener));
  call = await fakeCall({ kind, earOf, prepared: false, ...options });
  call.start();
  await call.agentFinishes(OPENING);
}
afterEach(() => call.close());

const speech = () =>
  call.conversationEvents.flatMap((event) => (event.type === 'speech' && event.who === 'user' ? [event.phase] : []));

test('it is given each frame of the call, silence too, once and in order', async () => {
  await opened();
  await call.say(400);
  await call.run(400);
  const { framesAtMs } = ear;
  expect(framesAtMs.length).toBe(Math.floor(call.leg.nowMs / 20));
  expect(framesAtMs).toEqual(framesAtMs.map((_, at) => at * 20));
});

test('one that takes mu-law is given each frame of a telephone as it came, and no samples', async () => {
  class MulawEar extends TellingEar {
    override readonly traits: EarTraits = { ...TRAITS, codec: 'mulaw' };
  }
  await opened({ earOf: (listener) => (ear = new MulawEar(listener)) });
  await call.say(400);
  expect(ear.framesAtMs).toEqual([]);
  expect(ear.mulawAtMs.length).toBe(Math.floor(call.leg.nowMs / 20));
});

test('it begins a turn where the gate hears nothing, and ends it: words, times and confidence reach the agent', async () => {
  await opened();
  ear.listener.speechBegan?.(call.leg.nowMs - 60);
  ear.tell({ text: 'good', final: false });
  await call.run(100);
  ear.tell({ text: 'good morning', final: true, words: TIMES, confidence: 0.9 });
  await call.agentFinishes('You said good morning. Is that right?');
  expect(told).toMatchObject([
    { type: 'caller', speaking: true },
    { type: 'caller', speaking: false },
    { type: 'heard', text: 'good morning', how: 'spoken', words: TIMES, confidence: 0.9 },
  ]);
  expect(speech()).toEqual(['start', 'end']);
  expect(call.story().at(-2)).toBe('user: good morning');
});

test('it ends a turn that the gate has begun, before the gate does', async () => {
  await opened();
  call.leg.callerSpeaks = true;
  await call.run(400);
  expect(ear.seen).toEqual(['began']);
  ear.tell({ text: 'good morning', final: true });
  call.leg.callerSpeaks = false;
  await call.run(100);
  expect(call.story().at(-1)).toBe('user: good morning');
});

test('a turn that it began and the gate hears too is one turn, which the gate ends', async () => {
  await opened();
  ear.listener.speechBegan?.(call.leg.nowMs);
  await call.say(600);
  ear.tell({ text: 'good morning', final: false });
  await call.runUntil('the end of the turn', () => ear.seen.includes('over'));
  ear.tell({ text: 'good morning', final: true });
  await call.agentFinishes('You said good morning. Is that right?');
  expect(ear.seen).toEqual(['began', 'over']);
  expect(speech()).toEqual(['start', 'end']);
});

test('its end leads: the gate ends a turn that both hear only 2 s after the caller’s last sound', async () => {
  await opened();
  await call.say(600);
  ear.tell({ text: 'good morning', final: false });
  await call.run(1_800);
  expect(ear.seen).toEqual(['began']);
  await call.run(400);
  expect(ear.seen).toEqual(['began', 'over']);
});

test('a likely end that nobody asked for tells what was heard', async () => {
  await opened();
  ear.listener.speechBegan?.(call.leg.nowMs);
  ear.tell({ text: 'good morning', final: false, concluded: true });
  expect(call.conversationEvents.some((event) => event.type === 'partial' && event.text === 'good morning')).toBe(true);
});

test('words that come late stop the agent that went on; where it waits they are answered', async () => {
  await opened();
  const late = async (text: string): Promise<void> => {
    ear.listener.speechBegan?.(call.leg.nowMs - 1_500);
    ear.tell({ text, final: true });
    await call.run(200);
  };
  await late('good morning');
  await call.run(1_000);
  expect(call.bargeIns()).toEqual([]);
  await late('stop');
  expect(call.bargeIns().at(-1)).toMatch(/^commit/);
  expect(told.flatMap((event) => (event.type === 'heard' ? [event.text] : []))).toEqual(['good morning', 'stop']);
  await call.agentFinishes('You said stop. Is that right?');
});

test('late assent lets the agent go on', async () => {
  await opened();
  ear.listener.speechBegan?.(call.leg.nowMs);
  ear.tell({ text: 'good morning', final: true });
  await call.run(1_000);
  ear.listener.speechBegan?.(call.leg.nowMs - 1_500);
  ear.tell({ text: 'okay', final: true });
  await call.agentFinishes('You said good morning. Is that right?');
  expect(call.bargeIns().filter((what) => what.startsWith('commit'))).toEqual([]);
});

test('a turn of which nothing was heard in time is a miss, unless the agent speaks', async () => {
  await opened();
  call.leg.callerSpeaks = true;
  await call.run(600);
  ear.tell({ text: '', final: true, isLate: true });
  call.leg.callerSpeaks = false;
  await call.agentFinishes('Say that again.');
  const turns = call.turns.length;
  ear.listener.speechBegan?.(call.leg.nowMs);
  ear.tell({ text: 'good morning', final: true });
  await call.run(600);
  call.leg.callerSpeaks = true;
  await call.run(1_500);
  ear.tell({ text: '', final: true, isLate: true });
  call.leg.callerSpeaks = false;
  await call.agentFinishes('You said good morning. Is that right?');
  expect(call.turns.slice(turns).map(({ text }) => text)).toEqual([
    'good morning',
    'You said good morning. Is that right?',
  ]);
});

test('a word is said for one that does not end its turn, before 2 s; the answer waits for the word’s end', async () => {
  await opened();
  call.leg.callerSpeaks = true;
  await call.run(600);
  call.leg.callerSpeaks = false;
  const endMs = call.leg.nowMs;
  const sent = call.leg.sent.length;
  await call.runUntil('a word', () => call.leg.sent.length > sent);
  expect(call.leg.sent[sent]!.atMs - endMs).toBeLessThanOrEqual(1_700);
  ear.tell({ text: 'good morning', final: true });
  await call.agentFinishes('You said good morning. Is that right?');
  expect(call.story().slice(-3)).toEqual([
    'user: good morning',
    'agent: One moment.',
    'agent: You said good morning. Is that right?',
  ]);
});

test('one that is deaf for good says so at once, and the call does not wait for a turn to know it', async () => {
  await opened();
  call.leg.callerSpeaks = true;
  await call.run(400);
  ear.listener.deaf?.(new Error('the key was revoked'));
  ear.listener.deaf?.(new Error('again'));
  await call.run(20);
  expect(call.ends).toMatchObject([{ reason: 'stt_error', error: 'the key was revoked' }]);
  expect(speech()).toEqual(['start', 'end']);
});

test('a turn that is settled in mid-sound leaves nobody waiting for the caller', async () => {
  await opened();
  call.leg.callerSpeaks = true;
  await call.run(400);
  ear.listener.failed(ear.turn, new Error('it broke'));
  await call.run(40);
  expect(told.map((event) => event.type === 'caller' && event.speaking)).toEqual([true, false]);
});

test('a turn that it began and never ends is given up, and the caller is silent again', async () => {
  await opened();
  ear.listener.speechBegan?.(call.leg.nowMs);
  await call.runUntil('the end of the turn', () => ear.seen.includes('dropped'), 21_000);
  expect(speech()).toEqual(['start', 'end']);
  expect(call.conversationEvents.some((event) => event.type === 'warning' && event.code === 'stt_slow')).toBe(true);
  expect(call.ends).toEqual([]);
});

test('words of a turn that was dropped are ignored, and it is closed with the call', async () => {
  await opened();
  ear.listener.speechBegan?.(call.leg.nowMs);
  call.registry.command('call-1', { type: 'text', text: 'typed', interrupt: true });
  ear.tell({ text: 'good morning', final: true });
  await call.agentFinishes('You said typed. Is that right?');
  expect(call.turns.some(({ text }) => text === 'good morning')).toBe(false);
  expect(speech()).toEqual(['start', 'end']);
  call.close();
  expect(ear.seen.at(-1)).toBe('closed');
});
