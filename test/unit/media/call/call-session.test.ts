import { afterEach, describe, expect, test } from 'vitest';
import type { AgentEvent } from '../../../../media/contract/agent.ts';
import { MULAW_8K } from '../../../../media/contract/audio-format.ts';
import { type FakeCall, type FakeCallOptions, fakeCall } from '../../../support/fakes/fake-call.ts';
import { FAKE_WORD_MS } from '../../../support/fakes/scripted-engines.ts';
import { sampleAgent } from '../../../support/sample-agent.ts';
import { Echo, echoKind } from '../agents/echo-agent.ts';

let call: FakeCall;
afterEach(() => call.close());

async function started(options: FakeCallOptions = {}): Promise<FakeCall> {
  call = await fakeCall(options);
  call.start();
  return call;
}

const GREETING = 'Hello Asha, this is the dental office.';
const QUESTION = 'Can you come on tuesday at three?';

describe('a conversation', () => {
  test('takes each frame as it comes, and looks at time and the far end each 40 ms', async () => {
    const ticksAtMs: number[] = [];
    class Counts extends Echo {
      override handle(event: AgentEvent): void {
        if (event.type === 'tick') ticksAtMs.push(event.atMs);
        super.handle(event);
      }
    }
    await started({ kind: { ...echoKind, create: (context) => new Counts(context) } });
    for (let frames = 0; frames < 50; frames++) {
      await call.run(20);
      expect(call.leg.block.uplink.queuedFrames).toBe(0);
    }
    expect(ticksAtMs.slice(1).map((atMs, at) => atMs - ticksAtMs[at]!)).toEqual(Array(ticksAtMs.length - 1).fill(40));
    expect(ticksAtMs.length).toBeGreaterThanOrEqual(24);
  });

  test('what it says without placeholders is spoken by the voice once, for all calls; what holds a value each time', async () => {
    const agent = sampleAgent({ voice: 'fake' });
    await started({ agent });
    await call.agentFinishes(QUESTION);
    await call.greetings.settled();
    const again = call.greetings.obtain({ text: QUESTION, voice: 'fake', format: MULAW_8K }, true);
    expect(again.complete).toBe(true);
    expect(call.voice.requests.filter(({ text }) => text === QUESTION)).toHaveLength(1);
  });

  test('goes from the greeting to the goodbye, and ends only after the last words were played', async () => {
    await started();
    call.ear.turns = [
      { partials: [{ afterMs: 600, text: 'yes' }], final: { text: 'yes please' } },
      { partials: [{ afterMs: 600, text: 'four two' }], final: { text: 'four two' } },
      { partials: [{ afterMs: 600, text: 'my name is john' }], final: { text: 'my name is john' } },
    ];
    await call.agentFinishes(QUESTION);
    await call.say(600);
    await call.agentFinishes('What is your order number?');
    await call.say(800);
    await call.agentFinishes('And your name?');
    await call.say(900);
    await call.runUntil('the end', () => call.ends.length > 0);

    expect(call.story()).toEqual([
      `agent: ${GREETING}`,
      `agent: ${QUESTION}`,
      'user: yes please',
      'agent: What is your order number?',
      'user: four two',
      'agent: And your name?',
      'user: my name is john',
      'agent: Thank you John, order 42 it is.',
      'agent: Goodbye.',
    ]);
    expect(call.turns.map((turn) => turn.turnId)).toEqual(['t1', 't2', 't3', 't4', 't5', 't6', 't7', 't8', 't9']);
    expect(call.turns.map((turn) => turn.intent)).toEqual([
      undefined,
      undefined,
      'accept',
      undefined,
      'order',
      undefined,
      'name',
      undefined,
      undefined,
    ]);
    expect(call.ends).toEqual([
      { type: 'call.end', callUuid: 'call-1', reason: 'agent_hangup', disposition: 'done', error: null },
    ]);
    expect(call.leg.sent.every((frame) => frame.played)).toBe(true);
    for (const [earlier, later] of call.turns.slice(1).map((turn, index) => [call.turns[index]!, turn] as const)) {
      expect(later.startMs).toBeGreaterThanOrEqual(earlier.endMs - 20);
    }
  });

  test('with a cached greeting the ring holds its first 240 ms before start returns, and the I/O thread is rung', async () => {
    call = await fakeCall();
    call.start();
    expect(call.leg.block.downlink.queuedFrames).toBe(12);
    expect(call.ioRings).toBe(1);
    await call.run(40);
    const first = call.conversationEvents.find((event) => event.type === 'first_audio');
    expect(first).toMatchObject({ atMs: 20, answerToFirstWordMs: 20 });
  });

  test('a call that starts while its greeting still renders plays from that rendering: one request to the voice, not two', async () => {
    call = await fakeCall({ prepared: false });
    call.greetings.obtain({ text: GREETING, voice: 'fake', format: { codec: 'mulaw', rateHz: 8000 } });
    for (let i = 0; i < 20; i++) await new Promise((resolve) => setImmediate(resolve));
    call.clock.advanceMs(40);
    call.start();
    await call.agentFinishes(GREETING);
    expect(call.voice.requests.filter((request) => request.text === GREETING)).toHaveLength(1);
  });

  test('each reply has its latencies, counted from the end of the caller’s last sound', async () => {
    await started();
    call.ear.turns = [{ partials: [{ afterMs: 600, text: 'yes' }], final: { text: 'yes' } }];
    await call.agentFinishes(QUESTION);
    await call.say(600);
    await call.agentStarts();
    const latency = call.conversationEvents.find((event) => event.type === 'latency');
    expect(latency).toEqual({
      type: 'latency',
      // 200 ms of patience after a whole yes; 80 ms of voice engine, less the wake it began in; 20 ms to the I/O
      // thread's next tick.
      latency: {
        turnId: 't4',
        eouMs: 200,
        sttMs: 200,
        ttsMs: 260,
        agentMs: 280,
        stages: expect.objectContaining({ decidedMs: 200, finalWordsMs: 200, firstFrameMs: 280 }),
      },
    });
  });
});

describe('patience', () => {
  test.each([
    ['yesno', 200, 1_120],
    ['open', 300, 1_120],
    ['digits', 1_200, 4_000],
  ] as const)(
    'after a %s question the turn is over %d ms after a whole answer, %d ms after a part of one',
    async (expectation, minMs, maxMs) => {
      for (const [partial, patienceMs] of [
        ['four', minMs],
        ['not yet', maxMs],
      ] as const) {
        const agent = sampleAgent({ voice: 'fake' });
        agent.steps[0] = {
          id: 'ask',
          say: 'Well?',
          expect: expectation,
          replies: [{ intent: 'x', phrases: ['<digits>'] }],
        };
        await started({ agent });
        call.ear.turns = [{ partials: [{ afterMs: 500, text: partial }], final: { text: partial } }];
        await call.agentFinishes('Well?');
        await call.say(400);
        const lastSoundMs = call.leg.nowMs;
        await call.runUntil('the end of the turn', () => call.ear.streams[0]!.over);
        expect(call.leg.nowMs - lastSoundMs).toBe(patienceMs);
        call.close();
      }
    },
  );

  test.each(['open', 'yesno'] as const)(
    'after a %s question words that fit nothing are answered within 1.2 s of the caller’s last sound',
    async (expect_) => {
      const agent = sampleAgent({ voice: 'fake' });
      agent.steps[0]!.expect = expect_;
      await started({ agent });
      call.ear.turns = [{ partials: [{ afterMs: 600, rejected: true }], final: { rejected: true } }];
      await call.agentFinishes(QUESTION);
      await call.say(1_000);
      const lastSoundMs = call.leg.nowMs;
      const sentBefore = call.leg.sent.length;
      await call.runUntil('the answer', () => call.leg.sent.length > sentBefore);
      expect(call.leg.sent[sentBefore]!.atMs - lastSoundMs).toBeLessThanOrEqual(1_200);
      await call.agentFinishes('Sorry, I did not get that.');
      // It was asked for the result in the pause, and had it when the turn was over.
      expect(call.ear.streams[0]).toMatchObject({ conclusions: 1, goneOn: 0, finished: false });
    },
  );

  test.each([500, 700, 900, 1_000])(
    'a pause of %d ms in a sentence ends no turn: it is heard as one',
    async (pauseMs) => {
      await started();
      call.ear.turns = [{ partials: [{ afterMs: 600, rejected: true }], final: { text: 'no thank you' } }];
      await call.agentFinishes(QUESTION);
      await call.say(600);
      await call.run(pauseMs);
      await call.say(600);
      await call.agentFinishes('Goodbye.');
      expect(call.story().slice(1)).toEqual([`agent: ${QUESTION}`, 'user: no thank you', 'agent: Goodbye.']);
      expect(call.ear.streams).toHaveLength(1);
      // A pause long enough to ask in is taken back when the caller goes on.
      expect(call.ear.streams[0]).toMatchObject({ goneOn: pauseMs > 600 ? 1 : 0 });
    },
  );

  test('somebody who looks for a number hears a word within 2 s, keeps their turn, and is answered when it is whole', async () => {
    const agent = sampleAgent({ voice: 'fake' });
    agent.steps = agent.steps.filter((step) => step.id !== 'ask');
    agent.steps.unshift({ ...agent.steps.find((step) => step.id === 'order')!, id: 'ask' });
    await started({ agent });
    call.ear.turns = [{ partials: [{ afterMs: 600, rejected: true }], final: { rejected: true } }];
    await call.agentFinishes('What is your order number?');
    await call.say(600);
    const lastSoundMs = call.leg.nowMs;
    const sentBefore = call.leg.sent.length;
    await call.runUntil('a word', () => call.leg.sent.length > sentBefore);
    expect(call.leg.sent[sentBefore]!.atMs - lastSoundMs).toBeLessThanOrEqual(2_000);
    await call.agentFinishes('Go on.');
    expect(call.ear.streams).toHaveLength(1);
    expect(call.ear.streams[0]!.over).toBe(false);
    await call.runUntil('the end of the turn', () => call.ear.streams[0]!.over);
    expect(call.leg.nowMs - lastSoundMs).toBe(4_000);
    await call.agentFinishes('Sorry, I did not get that.');
    expect(call.story().slice(-3)).toEqual([
      'agent: Go on.',
      'user (unclear): [unclear]',
      'agent: Sorry, I did not get that.',
    ]);
  });

  test('a caller who goes on has the word at once: what encouraged them is cut, and is no interruption of theirs', async () => {
    const agent = sampleAgent({ voice: 'fake' });
    agent.steps[0]!.expect = 'spelling';
    await started({ agent });
    call.ear.turns = [{ partials: [{ afterMs: 600, rejected: true }], final: { rejected: true } }];
    await call.agentFinishes(QUESTION);
    await call.say(600);
    await call.agentStarts();
    await call.say(600);
    await call.agentFinishes('Sorry, I did not get that.');
    expect(call.bargeIns()).toEqual([]);
    expect(call.story().slice(2)).toEqual([
      'agent:  [cut]',
      'agent: I am listening.',
      'user (unclear): [unclear]',
      'agent: Sorry, I did not get that.',
    ]);
  });

  test('the recogniser hears the 500 ms before speech was certain, and every frame after it once', async () => {
    await started();
    await call.agentFinishes(QUESTION);
    await call.run(1_000);
    await call.say(400);
    await call.runUntil('the end of the turn', () => call.ear.streams[0]?.over === true);
    // 500 ms up to the frame that made it certain (60 ms of speech), 340 ms more of speech, 1,120 ms of patience
    // without the last frame.
    expect(call.ear.streams[0]!.pushedMs).toBe(500 + 340 + 1_120 - 20);
  });

  test('a turn’s audio is not heard again by the next turn’s recogniser', async () => {
    await started();
    call.ear.turns = [
      { partials: [{ afterMs: 600, text: 'yes' }], final: { text: 'yes' } },
      { partials: [{ afterMs: 200, text: 'stop' }], final: { text: 'stop' } },
    ];
    await call.agentFinishes(QUESTION);
    await call.say(400);
    await call.run(200);
    expect(call.ear.streams[0]!.finished).toBe(true);
    await call.say(100);
    expect(call.ear.streams[1]!.pushedMs).toBe(100);
  });
});

describe('barge-in', () => {
  test('pauses within 250 ms and a frame of the caller’s first sound, and no frame of the old generation is sent after', async () => {
    await started();
    call.ear.turns = [{ final: {} }];
    await call.run(500);
    const onsetMs = call.leg.nowMs;
    await call.say(400);
    const pause = call.conversationEvents.find((event) => event.type === 'barge_in');
    expect(pause).toMatchObject({ phase: 'pause' });
    expect((pause as { atMs: number }).atMs - onsetMs).toBeLessThanOrEqual(270);
    expect(call.leg.clearsAtMs[0]! - onsetMs).toBeLessThanOrEqual(290);
    const clearedAtMs = call.leg.clearsAtMs[0]!;
    expect(call.leg.sent.filter((frame) => frame.atMs > clearedAtMs)).toEqual([]);
    expect(call.leg.block.downlink.queuedFrames).toBe(0);
  });

  test('240 ms of sound pause nothing', async () => {
    await started();
    await call.run(500);
    await call.say(240);
    await call.agentFinishes(GREETING);
    expect(call.bargeIns()).toEqual([]);
    expect(call.story()[0]).toBe(`agent: ${GREETING}`);
  });

  test('words that answer commit: the agent is cut, and its heard text ends exactly at the playhead', async () => {
    await started();
    call.ear.turns = [{ partials: [{ afterMs: 700, text: 'no thank you' }], final: { text: 'no thank you' } }];
    await call.agentFinishes(GREETING);
    await call.agentStarts();
    await call.run(980);
    await call.say(700);
    await call.runUntil('the answer', () => call.turns.some((turn) => turn.role === 'user'));

    expect(call.bargeIns()).toEqual(['pause', 'commit']);
    const cut = call.turns.find((turn) => turn.interrupted)!;
    const greetingFrames = (7 * FAKE_WORD_MS) / 20;
    const playedMs =
      20 * (call.leg.sent.filter((frame) => frame.played && frame.generation === 0).length - greetingFrames);
    const wholeWords = Math.floor(playedMs / FAKE_WORD_MS);
    expect(wholeWords).toBe(6);
    expect(cut).toMatchObject({ text: QUESTION, heardText: QUESTION.split(' ').slice(0, wholeWords).join(' ') });
    expect(cut.endMs - cut.startMs).toBeGreaterThanOrEqual(playedMs);
    expect(cut.endMs - cut.startMs).toBeLessThanOrEqual(playedMs + 40);
    await call.agentFinishes('Goodbye.');
    expect(call.story().slice(-2)).toEqual(['user: no thank you', 'agent: Goodbye.']);
  });

  test('assent lets the agent go on from the start of the word that was cut, and is kept as a backchannel', async () => {
    await started();
    call.ear.turns = [{ partials: [{ afterMs: 650, text: 'uh huh' }], final: { text: 'uh huh' } }];
    await call.run(500);
    await call.say(400);
    const heardFrames = call.leg.sent.filter((frame) => frame.played).length;
    await call.agentFinishes(GREETING);

    expect(call.bargeIns()).toEqual(['pause', 'resume']);
    expect(call.story().slice(0, 2)).toEqual(['user (backchannel): uh huh', `agent: ${GREETING}`]);
    expect(call.turns.map((turn) => turn.turnId).slice(0, 2)).toEqual(['t2', 't1']);
    // 7 words of 10 frames; what was heard of the cut word is heard again, and nothing else.
    const playedFrames = call.leg.sent.filter((frame) => frame.played).length;
    const repeated = playedFrames - 70;
    expect(repeated).toBeGreaterThanOrEqual(0);
    expect(repeated).toBeLessThan(15);
    expect(heardFrames).toBeGreaterThan(30);
    // The caller's pause is over 200 ms after the last sound, not after 1.2 s.
    const resume = call.conversationEvents.find((event) => event.type === 'barge_in' && event.phase === 'resume') as {
      atMs: number;
    };
    expect(resume.atMs).toBeLessThanOrEqual(900 + 200 + 20);
  });

  test('a cough, of which nothing is recognised, lets the agent go on 1.08 s after its end', async () => {
    await started();
    await call.run(500);
    await call.say(400);
    await call.agentFinishes(GREETING);
    const resume = call.conversationEvents.find((event) => event.type === 'barge_in' && event.phase === 'resume') as {
      atMs: number;
    };
    expect(resume.atMs).toBe(900 + 1_120);
    expect(call.story()[0]).toBe(`agent: ${GREETING}`);
    expect(call.turns.some((turn) => turn.role === 'user')).toBe(false);
  });

  test('1.2 s of speech that fits nothing commits, and the agent says that it did not understand', async () => {
    await started();
    call.ear.turns = [{ partials: [{ afterMs: 700, rejected: true }], final: { rejected: true } }];
    await call.agentFinishes(GREETING);
    await call.agentStarts();
    await call.run(300);
    await call.say(1_500);
    await call.agentFinishes('Sorry, I did not get that.');
    expect(call.bargeIns()).toEqual(['pause', 'commit']);
    expect(call.story().slice(-2)).toEqual(['user (unclear): [unclear]', 'agent: Sorry, I did not get that.']);
  });

  test('an agent that was cut for words which turn out to be none still owes an answer, and gives it', async () => {
    for (const final of [{}, { text: 'uh huh' }, { rejected: true }]) {
      await started();
      call.ear.turns = [{ partials: [{ afterMs: 650, text: 'no' }], final }];
      await call.agentFinishes(GREETING);
      await call.agentStarts();
      await call.run(300);
      await call.say(400);
      await call.agentFinishes('Sorry, I did not get that.');
      expect(call.bargeIns()).toEqual(['pause', 'commit']);
      call.close();
    }
  });

  test('assent that spans the end of one sentence and the start of the next stops neither', async () => {
    const agent = sampleAgent({ voice: 'fake' });
    agent.steps.unshift({ id: 'note', say: 'This call is short.', interruptible: false, expect: 'none', goto: 'ask' });
    await started({ agent });
    await call.agentFinishes(GREETING);
    await call.run(500);
    call.ear.turns = [{ partials: [{ afterMs: 600, text: 'uh huh' }], final: { text: 'uh huh' } }];
    await call.say(600);
    await call.agentFinishes(QUESTION);
    expect(call.story().slice(1)).toEqual([
      'agent: This call is short.',
      'user (backchannel): uh huh',
      `agent: ${QUESTION}`,
    ]);
    expect(call.ear.grammars[0]).toContain('uh huh');
  });

  test('"wait" stops the agent, which then waits in silence until its idle prompt', async () => {
    await started();
    call.ear.turns = [{ partials: [{ afterMs: 650, text: 'wait' }], final: { text: 'wait' } }];
    await call.agentFinishes(GREETING);
    await call.agentStarts();
    await call.run(300);
    await call.say(400);
    await call.runUntil('the prompt', () => call.turns.some((turn) => turn.text === 'Are you still there?'));
    const [user, prompt] = call.turns.slice(-2);
    expect(user).toMatchObject({ role: 'user', text: 'wait', kind: 'speech' });
    expect(prompt!.startMs - user!.endMs).toBeGreaterThanOrEqual(8_000);
  });

  test('a step that may not be interrupted is said to its end, and the caller who goes on talking is heard from there', async () => {
    const agent = sampleAgent({ voice: 'fake' });
    agent.steps[0]!.interruptible = false;
    await started({ agent });
    await call.agentFinishes(GREETING);
    await call.agentStarts();
    await call.run(300);
    call.ear.turns = [{ final: { text: 'yes' } }];
    await call.say(1_600);
    expect(call.bargeIns()).toEqual([]);
    expect(call.ear.streams).toHaveLength(1);
    await call.runUntil('the answer', () => call.turns.some((turn) => turn.text === 'yes'));
    expect(call.story().slice(1, 3)).toEqual([`agent: ${QUESTION}`, 'user: yes']);
  });

  test('the lists are in the grammar while the agent speaks, and only the phrases when it does not', async () => {
    await started();
    await call.run(500);
    await call.say(100);
    await call.agentFinishes(QUESTION);
    await call.run(500);
    await call.say(100);
    expect(call.ear.grammars[0]).toEqual(expect.arrayContaining(['yes', 'uh huh', 'stop', 'wait', 'hello']));
    expect(call.ear.grammars[1]).toEqual(['yes', 'yes please', 'no', 'no thank you', 'say that again']);
  });

  test('an I/O thread that hangs delays the decision by 500 ms at most', async () => {
    await started();
    call.ear.turns = [{ partials: [{ afterMs: 650, text: 'stop' }], final: { text: 'stop' } }];
    await call.agentFinishes(GREETING);
    await call.agentStarts();
    // So late that the ring has room: 70 frames of question, the last of them queued.
    await call.run(1_240);
    call.leg.hangs = true;
    const { queuedFrames } = call.leg.block.downlink;
    expect(queuedFrames).toBeLessThan(12);
    await call.say(1_000);
    expect(call.bargeIns()).toEqual(['pause', 'commit']);
    await call.run(2_000);
    // The agent has an answer, but its frames wait until the old ones are dropped.
    expect(call.voice.requests.at(-1)!.text).toBe('Sorry, I did not get that.');
    expect(call.leg.block.downlink.queuedFrames).toBe(queuedFrames);
    call.leg.hangs = false;
    await call.agentFinishes('Sorry, I did not get that.');
  });
});

describe('keys', () => {
  test('digits are one answer 2 s after the last of them, or at once with #', async () => {
    await started();
    call.ear.turns = [{ final: { text: 'yes' } }];
    await call.agentFinishes(QUESTION);
    await call.say(400);
    await call.agentFinishes('What is your order number?');
    call.registry.command('call-1', { type: 'key', key: '4' });
    await call.run(1_000);
    call.registry.command('call-1', { type: 'key', key: '2' });
    await call.run(1_980);
    expect(call.turns.at(-1)!.role).toBe('agent');
    await call.run(40);
    expect(call.turns.at(-1)).toMatchObject({ role: 'user', text: '42', intent: 'order', kind: 'speech' });
    call.close();

    await started();
    await call.agentFinishes(QUESTION);
    call.registry.command('call-1', { type: 'key', key: '7' });
    call.registry.command('call-1', { type: 'key', key: '#' });
    await call.run(40);
    expect(call.turns.at(-1)).toMatchObject({ role: 'user', text: '7', kind: 'unclear' });
  });

  test('a murmur that began before the keys were answered lets the answer be said', async () => {
    await started();
    call.ear.turns = [{ final: { text: 'yes' } }];
    await call.agentFinishes(QUESTION);
    await call.say(400);
    await call.agentFinishes('What is your order number?');
    call.ear.turns = [{ partials: [{ afterMs: 200, text: 'okay' }], final: { text: 'okay' } }];
    call.leg.callerSpeaks = true;
    await call.run(60);
    expect(call.ear.streams).toHaveLength(2);
    call.registry.command('call-1', { type: 'key', key: '4' });
    call.registry.command('call-1', { type: 'key', key: '#' });
    await call.run(20);
    call.leg.callerSpeaks = false;
    await call.agentFinishes('And your name?');
    expect(call.story().slice(-3)).toEqual(['user: 4', 'user (backchannel): okay', 'agent: And your name?']);
  });
});

describe('speech that fits nothing', () => {
  const guess = { text: 'yes please', confidence: 0.412 };

  test('stands in the transcript as [unclear], its guess in the turn’s own field, and nowhere else', async () => {
    await started();
    call.ear.turns = [{ final: { rejected: true, guess } }];
    await call.agentFinishes(QUESTION);
    await call.say(900);
    await call.agentFinishes('Sorry, I did not get that.');
    const turn = call.turns.find(({ role }) => role === 'user');
    expect(turn).toMatchObject({
      text: '[unclear]',
      heardText: '[unclear]',
      kind: 'unclear',
      unclear: { guess: 'yes please', confidence: 0.41 },
    });
    const others = call.sent.filter((message) => !(message.type === 'call.event' && message.event.type === 'turn'));
    expect(JSON.stringify(others)).not.toContain('yes please');
    expect(call.voice.requests.map(({ text }) => text)).not.toContain('yes please');
    expect(call.checkpoints.at(-1)!.variables).toEqual({});
  });

  test('is kept when the agent was speaking and goes on', async () => {
    await started();
    call.ear.turns = [{ final: { rejected: true } }];
    await call.run(500);
    await call.say(600);
    await call.agentFinishes(GREETING);
    expect(call.story().slice(0, 2)).toEqual(['user (unclear): [unclear]', `agent: ${GREETING}`]);
    expect(call.turns[0]!.unclear).toEqual({ guess: null, confidence: null });
  });

  test('is kept when the caller hangs up in the middle of it, with the time that it took', async () => {
    await started();
    call.ear.turns = [{ partials: [{ afterMs: 600, rejected: true }], final: { rejected: true } }];
    await call.agentFinishes(QUESTION);
    await call.say(800);
    call.registry.stop('call-1');
    const turn = call.turns.at(-1)!;
    expect(turn).toMatchObject({ text: '[unclear]', kind: 'unclear' });
    expect(turn.endMs - turn.startMs).toBe(800);
  });

  test('200 ms of it are a noise', async () => {
    await started();
    call.ear.turns = [{ final: { rejected: true } }];
    await call.agentFinishes(QUESTION);
    await call.say(200);
    await call.run(3_000);
    expect(call.turns.some(({ role }) => role === 'user')).toBe(false);
  });
});

describe('silence and time', () => {
  test('idle prompts and the end by inactivity are counted from the end of playback', async () => {
    await started();
    await call.agentFinishes(QUESTION);
    const quietSinceMs = call.leg.nowMs;
    await call.runUntil('the end', () => call.ends.length > 0, 40_000);
    expect(call.ends[0]!.reason).toBe('inactivity');
    expect(call.leg.nowMs - quietSinceMs).toBe(30_000);
    const prompts = call.turns.filter((turn) => turn.text === 'Are you still there?' || turn.text === 'Hello?');
    expect(prompts).toHaveLength(3);
    expect(prompts[0]!.startMs - quietSinceMs).toBeGreaterThanOrEqual(8_000);
    expect(prompts[0]!.startMs - quietSinceMs).toBeLessThanOrEqual(8_200);
  });

  test('audio that stops while the caller speaks ends the turn after 1 s', async () => {
    await started();
    call.ear.turns = [{ final: { text: 'yes' } }];
    await call.agentFinishes(QUESTION);
    await call.say(300);
    call.leg.lineIsDead = true;
    await call.runUntil('the answer', () => call.turns.some((turn) => turn.text === 'yes'), 1_040);
    expect(call.story().at(-1)).toBe('user: yes');
  });

  test('a hole of 300 ms in the caller’s audio counts as 300 ms of silence', async () => {
    await started();
    call.ear.turns = [{ partials: [{ afterMs: 600, text: 'yes' }], final: { text: 'yes' } }];
    await call.agentFinishes(QUESTION);
    await call.say(300);
    call.leg.lineIsDead = true;
    await call.run(300);
    call.leg.lineIsDead = false;
    await call.run(20);
    expect(call.story().at(-1)).toBe('user: yes');
  });

  test('the call ends after its longest time', async () => {
    await started({ setup: { maxDurationMs: 6_000 } });
    await call.runUntil('the end', () => call.ends.length > 0);
    expect(call.ends[0]!.reason).toBe('max_duration_reached');
    expect(call.leg.nowMs).toBeLessThanOrEqual(6_020);
  });
});

describe('engines that fail', () => {
  test('a voice that fails once is asked again, one that fails twice ends the call with tts_error', async () => {
    await started();
    call.voice.failures = [new Error('no voice today')];
    await call.agentFinishes(QUESTION);
    expect(call.ends).toEqual([]);
    call.voice.failures = [new Error('again'), new Error('and again')];
    call.ear.turns = [{ final: { text: 'yes' } }];
    await call.say(400);
    await call.runUntil('the end', () => call.ends.length > 0);
    expect(call.ends[0]).toMatchObject({ reason: 'tts_error', error: 'and again' });
  });

  test('a recogniser that fails is a miss; three times in a row end the call with stt_error', async () => {
    await started();
    const broken = { final: { error: new Error('deaf') } };
    call.ear.turns = [broken, broken, broken];
    await call.agentFinishes(QUESTION);
    await call.say(400);
    await call.agentFinishes('Sorry, I did not get that.');
    await call.say(400);
    await call.agentFinishes('Could you say that again?');
    expect(call.ends).toEqual([]);
    await call.say(400);
    await call.runUntil('the end', () => call.ends.length > 0);
    expect(call.ends[0]).toMatchObject({ reason: 'stt_error', error: 'deaf' });
  });

  test('a kind that wants to say goodbye is told that its recogniser is lost, once, and has 15 s to end the call', async () => {
    const told: string[] = [];
    class Deaf extends Echo {
      override handle(event: AgentEvent): void {
        if (event.type === 'deaf') told.push(event.error);
        super.handle(event);
      }
    }
    const traits = { isSteerable: true, saysGoodbyeDeaf: true } as const;
    await started({ kind: { ...echoKind, traits, create: (context) => new Deaf(context) } });
    const broken = { final: { error: new Error('deaf') } };
    call.ear.turns = Array.from({ length: 5 }, () => broken);
    await call.agentFinishes('This is an echo, say something that I can say back.');
    for (let turn = 0; turn < 4; turn++) {
      await call.say(400);
      await call.run(3_000);
    }
    expect(told).toEqual(['deaf']);
    expect(call.ends).toEqual([]);
    await call.runUntil('the end', () => call.ends.length > 0);
    expect(call.ends[0]).toMatchObject({ reason: 'stt_error', error: 'deaf' });
  });

  test('three failures of the recogniser with a success between them do not end the call', async () => {
    await started();
    const broken = { final: { error: new Error('deaf') } };
    call.ear.turns = [broken, broken, { final: { text: 'say that again' } }, broken];
    await call.agentFinishes(QUESTION);
    for (let i = 0; i < 4; i++) {
      await call.say(400);
      await call.agentStarts();
      await call.run(3_000);
    }
    expect(call.ear.streams).toHaveLength(4);
    expect(call.ends).toEqual([]);
  });

  test('a final result that never comes is not waited for over 1.5 s: the last partial counts', async () => {
    await started();
    call.ear.turns = [{ partials: [{ afterMs: 600, text: 'yes' }], final: { never: true } }];
    await call.agentFinishes(QUESTION);
    await call.say(400);
    await call.run(200 + 1_520);
    expect(call.story().at(-1)).toBe('user: yes');
  });
});

describe('a recogniser that is late', () => {
  test('has a word said for it within 2 s, and its result is still answered', async () => {
    await started();
    call.ear.turns = [{ final: { text: 'no thank you', afterMs: 1_300 } }];
    await call.agentFinishes(QUESTION);
    await call.say(600);
    const lastSoundMs = call.leg.nowMs;
    const sentBefore = call.leg.sent.length;
    await call.runUntil('a word', () => call.leg.sent.length > sentBefore);
    expect(call.leg.sent[sentBefore]!.atMs - lastSoundMs).toBeLessThanOrEqual(2_000);
    await call.agentFinishes('Goodbye.');
    expect(call.story().slice(2)).toEqual(['agent: One moment.', 'user: no thank you', 'agent: Goodbye.']);
  });

  test('and gives nothing at all is a miss that the caller hears of, not silence', async () => {
    await started();
    call.ear.turns = [{ final: { never: true } }];
    await call.agentFinishes(QUESTION);
    await call.say(600);
    await call.agentFinishes('Sorry, I did not get that.');
    expect(call.story()).toContain('user (unclear): [unclear]');
  });
});

describe('checkpoints and the end of the leg', () => {
  test('each turn’s boundary has a checkpoint, from which another session goes on with a bridge and the same question', async () => {
    await started();
    call.ear.turns = [{ final: { text: 'yes' } }];
    await call.agentFinishes(QUESTION);
    await call.say(400);
    await call.agentFinishes('What is your order number?');
    await call.run(20);
    expect(call.checkpoints).toHaveLength(call.turns.length);
    const checkpoint = call.checkpoints.at(-1)!;
    const state = { stepId: 'order', misses: 0, visits: { ask: 1, order: 1 } };
    expect(checkpoint).toMatchObject({ agent: { kind: 'scripted', version: 1, state }, nextTurnNumber: 5 });
    call.close();

    await started({ checkpoint });
    await call.agentFinishes('Sorry, I lost you for a moment. What is your order number?');
    expect(call.turns[0]).toMatchObject({ turnId: 't5', stepId: 'order' });
    expect(call.turns[0]!.startMs).toBeGreaterThanOrEqual(checkpoint.atMs);
    expect(call.conversationEvents.some((event) => event.type === 'first_audio')).toBe(false);
  });

  test('a leg that ends in the middle of a sentence leaves a turn of what was heard, then call.closed', async () => {
    await started();
    await call.run(700);
    call.registry.stop('call-1');
    expect(call.story()).toEqual(['agent: Hello Asha, this [cut]']);
    expect(call.sent.slice(-2).map((message) => message.type)).toEqual(['call.checkpoint', 'call.closed']);
    expect(call.voiceActivity.closed).toBe(true);
    call.registry.tick(true);
    expect(call.sent.at(-1)!.type).toBe('call.closed');
  });

  test('a leg that ends while the caller speaks keeps the words heard so far', async () => {
    await started();
    call.ear.turns = [{ partials: [{ afterMs: 600, text: 'yes' }], final: { text: 'yes please' } }];
    await call.agentFinishes(QUESTION);
    await call.say(400);
    call.registry.stop('call-1');
    expect(call.story().at(-1)).toBe('user: yes');
  });
});
