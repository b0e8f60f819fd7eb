import { describe, expect, it } from 'vitest';
import type { CallCommand } from '../../../../../../media/contract/call-command.ts';
import type { ConversationEvent } from '../../../../../../media/contract/conversation.ts';
import type { CallSetup } from '../../../../../../media/contract/link-messages.ts';
import type { WebSetup } from '../../../../../../media/contract/live-session.ts';
import { FrameClock } from '../../../../../../media/io/frame-clock.ts';
import { WebLeg, type WebLegListener } from '../../../../../../media/io/legs/web/web-leg.ts';
import type { MediaSocket, SendResult } from '../../../../../../media/io/socket-server/media-socket-server.ts';
import type { CallBlock } from '../../../../../../media/rings/call-block.ts';
import { endMark, MARK_BYTES, startMark } from '../../../../../../media/rings/utterance-mark.ts';
import { toneSetup } from '../../../../../support/tone-setup.ts';
import { VirtualClock } from '../../../../../support/virtual-clock.ts';

const setup: CallSetup & { web: WebSetup } = toneSetup({
  callUuid: '0199f0a2-6c1e-7b7a-9a58-3f6b6f0a2c11',
  carrier: 'web',
  carrierCallId: null,
  maxDurationMs: 900_000,
  web: { origin: 'https://example.com', resumeKeyHex: 'ab'.repeat(32), maxSessionSeconds: 900, resumed: null },
});

class BrowserSocket implements MediaSocket<unknown> {
  readonly data = null;
  readonly said: Record<string, unknown>[] = [];
  readonly frames: Uint8Array[] = [];
  closed: { code: number; reason: string } | null = null;
  bufferedBytes = 0;
  onClose: ((code: number) => void) | null = null;

  get isOpen(): boolean {
    return this.closed === null;
  }

  send(message: Uint8Array, isBinary: boolean): SendResult {
    if (this.closed !== null) return 'dropped';
    if (isBinary) this.frames.push(message.slice());
    else this.said.push(JSON.parse(Buffer.from(message).toString()));
    return 'sent';
  }

  close(code: number, reason: string): void {
    if (this.closed !== null) return;
    this.closed = { code, reason };
    this.onClose?.(code);
  }

  of(type: string): Record<string, unknown>[] {
    return this.said.filter((one) => one['type'] === type);
  }
}

function told(command: CallCommand): string {
  if (command.type === 'key') return `digit ${command.key}`;
  if (command.type !== 'tool.answer') return JSON.stringify(command);
  return `tool ${command.toolCallId} ${JSON.stringify(command.answer)}`;
}

function make(change: Partial<CallSetup> = {}) {
  const clock = new VirtualClock();
  const heard = { log: [] as string[], block: null as CallBlock | null, audio: null as unknown, fed: 0 };
  const frameClock = new FrameClock({
    clock,
    afterTick: () => {},
  });
  const listener: WebLegListener = {
    negotiated(audio, visitor, resumeNumber) {
      heard.audio = audio;
      heard.log.push(`negotiated ${visitor?.name ?? '-'} ${resumeNumber}`);
    },
    started(_streamId, _callId, block) {
      heard.block = block;
    },
    fed: () => heard.fed++,
    command: (command) => heard.log.push(told(command)),
    recovered: () => {},
    failed: (error) => {
      throw error;
    },
    over: (why, durationMs) => heard.log.push(`over ${why} ${durationMs}`),
  };
  const leg = new WebLeg({ setup: { ...setup, ...change }, clock, frameClock, listener, requestId: 'r' });
  const socketOf = (): BrowserSocket => {
    const socket = new BrowserSocket();
    socket.onClose = (code) => leg.socketClosed(socket, code);
    return socket;
  };
  const open = (): BrowserSocket => {
    const socket = socketOf();
    leg.attach(socket);
    return socket;
  };
  const socket = open();
  const say = (message: object | string, by = socket): void =>
    leg.message(by, Buffer.from(typeof message === 'string' ? message : JSON.stringify(message)), false);
  const sound = (lengthBytes = 640, by = socket): void => leg.message(by, new Uint8Array(lengthBytes), true);
  const start = (fields: object = {}): void => say({ type: 'session.start', ...fields });
  let seq = 0;
  const agent = {
    mark: (what: number) => heard.block!.downlink.tryWrite(MARK_BYTES, 0, 0, heard.block!.generation, seq + 1, what),
    frames(count: number) {
      for (let i = 0; i < count; i++) {
        const frame = new Uint8Array(960).fill(++seq & 255);
        if (!heard.block!.downlink.tryWrite(frame, 0, 960, heard.block!.generation, seq, 0))
          throw new Error('ring full');
      }
    },
  };
  return { clock, heard, leg, socket, say, sound, start, open, agent };
}

const speech = (phase: 'start' | 'end', turnId: string): ConversationEvent => ({
  type: 'speech',
  who: 'user',
  phase,
  atMs: 5,
  turnId,
});

describe('the beginning of a web session', () => {
  it('is welcome, session.start, session.ready with the defaults, status connected', () => {
    const { socket, start, heard } = make();
    expect(socket.said).toMatchObject([{ type: 'welcome', protocol: '1', requestId: 'r' }]);
    start({ name: 'Asha', metadata: { page: '/pricing' } });
    expect(socket.said.slice(1)).toMatchObject([
      {
        type: 'session.ready',
        callUuid: setup.callUuid,
        resumed: false,
        resumeWindowMs: 30_000,
        audio: {
          input: { codec: 'pcm_s16le', sampleRate: 16000, frameMs: 20 },
          output: { codec: 'pcm_s16le', sampleRate: 24000, frameMs: 20 },
        },
        limits: { maxSessionSeconds: 900, pingIntervalMs: 5000 },
      },
      { type: 'status', status: 'connected' },
    ]);
    expect(heard.log).toEqual(['negotiated Asha 1']);
  });

  it('is sound alone for a player of twenty lines', () => {
    const { socket, sound, heard } = make();
    sound();
    expect(socket.of('session.ready')).toHaveLength(1);
    expect(heard.block!.uplink.queuedFrames).toBe(1);
  });

  it('takes the first of the formats that it can serve, each direction on its own', () => {
    const { start, heard, socket } = make();
    start({
      audio: {
        input: [{ codec: 'flac' }, { codec: 'opus', sampleRate: 48000 }, { codec: 'pcm_s16le' }],
        output: { codec: 'mulaw', sampleRate: 8000 },
      },
    });
    expect(heard.audio).toEqual({
      input: { codec: 'opus', rateHz: 48000 },
      output: { codec: 'mulaw', rateHz: 8000 },
    });
    expect(socket.of('error')).toEqual([]);
  });

  it.each([
    ['no format in common', { audio: { input: { codec: 'flac' } } }, 'unsupported_audio', 4400],
    [
      'a rate that is not offered',
      { audio: { output: { codec: 'opus', sampleRate: 8000 } } },
      'unsupported_audio',
      4400,
    ],
  ])('ends at %s', (_case, fields, code, closeCode) => {
    const { start, socket, heard } = make();
    start(fields);
    expect(socket.of('error')).toMatchObject([{ code, fatal: true }]);
    expect(socket.closed?.code).toBe(closeCode);
    expect(heard.log).toEqual(['over bad_stream 0']);
  });

  it('ends with start_timeout after 5 s of silence', () => {
    const { clock, socket, heard } = make();
    clock.advanceMs(4_999);
    expect(socket.closed).toBeNull();
    clock.advanceMs(1);
    expect([socket.of('error')[0]?.['code'], socket.closed?.code]).toEqual(['start_timeout', 4408]);
    expect(heard.log).toEqual(['over no_media 0']);
  });
});

describe('agent audio', () => {
  it('is announced, paced to bufferMs, and its end told with its length', () => {
    const { start, socket, clock, agent } = make();
    start({ bufferMs: 100 });
    agent.mark(startMark(1, false));
    agent.frames(15);
    agent.mark(endMark());
    clock.advanceMs(20);
    expect(socket.of('agent.audio')).toEqual([
      { type: 'agent.audio', phase: 'start', utteranceId: 'u1', turnId: 't1' },
    ]);
    expect(socket.frames).toHaveLength(5);
    clock.advanceMs(400);
    expect(socket.frames).toHaveLength(15);
    expect(socket.of('agent.audio')[1]).toEqual({
      type: 'agent.audio',
      phase: 'end',
      utteranceId: 'u1',
      turnId: 't1',
      audioMs: 300,
    });
  });

  it('stops at a clear: the browser is asked what it played, and nothing older is sent after it', () => {
    const { start, say, socket, clock, agent, heard } = make();
    start({ bufferMs: 200 });
    agent.mark(startMark(1, false));
    agent.frames(18);
    clock.advanceMs(120);
    say({ type: 'playback.position', utteranceId: 'u1', playedMs: 40 });
    clock.advanceMs(60);
    const before = socket.frames.length;
    heard.block!.raiseGeneration();
    clock.advanceMs(20);
    expect(socket.of('playback.clear')).toEqual([{ type: 'playback.clear', utteranceId: 'u1', reason: 'barge_in' }]);
    expect(heard.block!.appliedGeneration).toBe(0);
    say({ type: 'playback.position', utteranceId: 'u1', playedMs: 110 });
    expect(heard.block!.appliedGeneration).toBe(1);
    expect(heard.block!.playedSeq).toBe(5);
    clock.advanceMs(100);
    expect(socket.frames).toHaveLength(before);
    agent.mark(startMark(2, true));
    agent.frames(1);
    clock.advanceMs(20);
    expect(socket.of('agent.audio').at(-1)).toMatchObject({
      phase: 'start',
      utteranceId: 'u2',
      resumes: 'u1',
      turnId: 't2',
    });
  });

  it('believes the browser over the clock: what it has not played was not heard', () => {
    const { start, say, clock, agent, heard } = make();
    start({ bufferMs: 200 });
    agent.mark(startMark(1, false));
    agent.frames(15);
    clock.advanceMs(40);
    for (let i = 0; i < 8; i++) {
      say({ type: 'playback.position', utteranceId: 'u1', playedMs: 20 });
      clock.advanceMs(100);
    }
    // 20 ms, and 100 ms of clock since the last report.
    expect(heard.block!.playedSeq).toBeLessThanOrEqual(6);
    expect(heard.block!.sentSeq).toBeLessThanOrEqual(16);
  });

  it('is left out for a browser that does not read, at 256 KB; at 1 MB it is cut, and may come back', () => {
    const { start, socket, clock, agent, heard } = make();
    start();
    socket.bufferedBytes = 300 * 1024;
    clock.advanceMs(20);
    agent.frames(5);
    clock.advanceMs(200);
    expect(socket.frames).toHaveLength(0);
    expect(socket.of('warning')).toMatchObject([{ code: 'slow_client' }]);
    expect(heard.block!.sentSeq).toBe(5);
    socket.bufferedBytes = 1_100_000;
    clock.advanceMs(20);
    expect([socket.of('error')[0]?.['code'], socket.closed?.code]).toEqual(['slow_client', 4408]);
    expect(heard.log.at(-1)).toBe('{"type":"hold","held":true}');
  });
});

describe('what a client may not do', () => {
  it.each([
    ['text that is no JSON', '{'],
    ['a list', '[]'],
    ['an object without a type', '{}'],
    ['a type that is no string', '{"type":7}'],
  ])('%s closes with 4400', (_case, text) => {
    const { start, say, socket } = make();
    start();
    say(text);
    expect([socket.of('error')[0]?.['code'], socket.closed?.code]).toEqual(['bad_message', 4400]);
  });

  it('wrong fields are warned of ten times, and the eleventh closes', () => {
    const { start, say, socket } = make();
    start();
    for (let i = 0; i < 10; i++) say({ type: 'audio.mute', muted: 'yes' });
    expect(socket.of('warning')).toHaveLength(10);
    expect(socket.closed).toBeNull();
    say({ type: 'dtmf', digits: 'x' });
    expect(socket.closed?.code).toBe(4400);
  });

  it('unknown types are ignored', () => {
    const { start, say, socket } = make();
    start();
    say({ type: 'from.the.future', x: 1 });
    say({ type: 'toString' });
    say({ type: '__proto__' });
    expect([socket.of('warning').length, socket.closed]).toEqual([0, null]);
  });

  it('audio ten times faster than real time is dropped and counted, and after 60 s too much the socket is closed', () => {
    const { start, sound, socket, clock, leg } = make();
    start();
    let sentMs = 0;
    while (socket.closed === null && sentMs < 200_000) {
      for (let i = 0; i < 10; i++) sound();
      sentMs += 200;
      clock.advanceMs(20);
    }
    expect([socket.of('error')[0]?.['code'], socket.closed?.code]).toEqual(['audio_flood', 4400]);
    expect(sentMs).toBeGreaterThan(70_000);
    expect(sentMs).toBeLessThan(100_000);
    expect(socket.of('warning').filter(({ code }) => code === 'audio_too_fast')).toHaveLength(1);
    expect(leg.counters.uplinkRefusedFrames).toBeGreaterThan(3_000);
  });

  it('1000 text messages at once close it', () => {
    const { start, say, socket } = make();
    start();
    for (let i = 0; i < 1000; i++) say({ type: 'ping', id: i });
    expect(socket.closed?.code).toBe(4400);
    expect(socket.of('pong').length).toBeLessThan(101);
  });
});

describe('small things', () => {
  it('mute drops sound unheard; 5 s without a microphone are warned of once, muted ones never', () => {
    const { start, say, sound, socket, clock, heard } = make();
    start();
    say({ type: 'audio.mute', muted: true });
    sound();
    expect(heard.block!.uplink.queuedFrames).toBe(0);
    clock.advanceMs(11_000);
    expect(socket.of('warning')).toEqual([]);
    say({ type: 'audio.mute', muted: false });
    clock.advanceMs(11_000);
    expect(socket.of('warning')).toMatchObject([{ code: 'mic_silent' }]);
  });

  it('hands on text, interrupt and digits, pings each 5 s and answers pings', () => {
    const { start, say, socket, clock, heard } = make();
    start();
    say({ type: 'user.text', text: ' My email ', interrupt: false });
    say({ type: 'interrupt' });
    say({ type: 'dtmf', digits: '1#' });
    say({ type: 'ping', id: 17 });
    expect(heard.log.slice(1)).toEqual([
      '{"type":"text","text":"My email","interrupt":false}',
      '{"type":"interrupt"}',
      'digit 1',
      'digit #',
    ]);
    expect(socket.of('pong')).toMatchObject([{ id: 17 }]);
    clock.advanceMs(5_020);
    expect(socket.of('ping')).toHaveLength(1);
  });

  it('takes 40,000 typed characters of a session, and says so once when more come', () => {
    const { start, say, socket, clock, heard } = make();
    start();
    const taken = (): number => heard.log.filter((line) => line.startsWith('{"type":"text"')).length;
    for (let sent = 0; sent < 25; sent++) {
      say({ type: 'user.text', text: 'x'.repeat(2_000), interrupt: false });
      clock.advanceMs(100);
    }
    expect(taken()).toBe(20);
    expect(socket.of('warning').map(({ code }) => code)).toEqual(['too_much_text']);
    expect(socket.closed).toBeNull();
  });

  it('ends by session.end with session.ended and 1000', () => {
    const { start, say, socket, clock, heard } = make();
    start();
    clock.advanceMs(1_000);
    say({ type: 'session.end' });
    expect(socket.said.at(-1)).toMatchObject({ type: 'session.ended', reason: 'user_hangup', durationMs: 1000 });
    expect(socket.closed?.code).toBe(1000);
    expect(heard.log.at(-1)).toBe('over socket_closed 1000');
  });

  it("never cuts the agent's last sentence: what was sent is played first, 1.5 s at most", () => {
    const { start, socket, clock, agent, leg } = make();
    start({ bufferMs: 200 });
    agent.mark(startMark(1, false));
    agent.frames(12);
    agent.mark(endMark());
    clock.advanceMs(20);
    leg.agentEnded('agent_hangup');
    clock.advanceMs(100);
    expect(socket.closed).toBeNull();
    clock.advanceMs(200);
    expect(socket.frames).toHaveLength(12);
    expect(socket.said.at(-1)).toMatchObject({ type: 'session.ended', reason: 'agent_hangup' });
    expect(socket.closed?.code).toBe(1000);
  });
});

describe('a lost connection', () => {
  it('stands still, comes back with what was missed, and goes on under a new token', () => {
    const { start, open, say, socket, clock, leg, heard } = make();
    start();
    leg.conversationEvent({ type: 'partial', text: 'I want', atMs: 1, turnId: 't1' });
    const token = String(socket.of('session.ready')[0]!['resumeToken']);
    clock.advanceMs(1_000);
    socket.close(1006, '');
    const stoodAtMs = heard.block!.streamMs;
    leg.conversationEvent({ type: 'partial', text: 'I want to', atMs: 1, turnId: 't1' });
    leg.conversationEvent({ type: 'partial', text: 'I want to go', atMs: 1, turnId: 't1' });
    clock.advanceMs(20_000);
    expect(heard.block!.streamMs).toBe(stoodAtMs);
    expect(leg.acceptsResume(`${token}x`)).toBe(false);
    expect(leg.acceptsResume(token)).toBe(true);
    const next = open();
    say({ type: 'session.resume', lastOrdinal: 1 }, next);
    expect(next.said.map(({ type }) => type).slice(0, 4)).toEqual(['welcome', 'session.ready', 'transcript', 'status']);
    expect(next.said[1]).toMatchObject({ resumed: true, callUuid: setup.callUuid });
    expect(next.said[2]).toMatchObject({ text: 'I want to go', ordinal: 3 });
    expect(heard.log.slice(1)).toEqual([
      '{"type":"hold","held":true}',
      'negotiated - 1',
      '{"type":"hold","held":false}',
    ]);
    clock.advanceMs(1_000);
    expect(heard.block!.streamMs).toBeGreaterThanOrEqual(1_980);
    expect(heard.block!.streamMs).toBeLessThan(2_040);
    // The new token came over: the old one is spent.
    say({ type: 'ping' }, next);
    expect(leg.acceptsResume(token)).toBe(false);
    expect(leg.acceptsResume(String(next.of('session.ready')[0]!['resumeToken']))).toBe(true);
  });

  it('ends after 30 s, and the resume is too late', () => {
    const { start, open, socket, clock, heard } = make();
    start();
    clock.advanceMs(500);
    socket.close(1006, '');
    clock.advanceMs(29_900);
    expect(heard.log.at(-1)).toBe('{"type":"hold","held":true}');
    clock.advanceMs(200);
    expect(heard.log.at(-1)).toBe('over socket_closed 500');
    expect(open().closed?.code).toBe(4410);
  });

  it('the newest socket wins: the older is told and closed with 4409', () => {
    const { start, open, say, socket } = make();
    start();
    const next = open();
    expect([socket.of('error')[0]?.['code'], socket.closed?.code]).toEqual(['replaced', 4409]);
    say({ type: 'session.resume', lastOrdinal: 0 }, next);
    expect(next.of('status')).toHaveLength(1);
  });

  it.each([1000, 1001, 1005])('a close with %i is meant: the visitor has hung up', (code) => {
    const { start, socket, heard } = make();
    start();
    socket.close(code, '');
    expect(heard.log.at(-1)).toMatch(/^over socket_closed/);
  });

  it('nothing of the session is said before session.ready: what was cleared meanwhile is told right after it, what was kept is replayed once', () => {
    const { leg, open, say, start, agent, clock, heard } = make();
    start();
    agent.mark(startMark(1, false));
    agent.frames(18);
    clock.advanceMs(100);
    // The old socket looks alive: its successor opens, and only then the agent's words are cut.
    const next = open();
    heard.block!.raiseGeneration();
    clock.advanceMs(40);
    leg.conversationEvent({ type: 'agent_text', turnId: 't1', delta: 'Hello' } as ConversationEvent);
    leg.conversationEvent({ type: 'speech', who: 'user', phase: 'start', turnId: 't2', atMs: 1 } as ConversationEvent);
    expect(next.said.map(({ type }) => type)).toEqual(['welcome']);
    say({ type: 'session.resume', lastOrdinal: 0 }, next);
    expect(next.said.map(({ type }) => type).slice(0, 3)).toEqual(['welcome', 'session.ready', 'playback.clear']);
    expect(next.of('playback.clear')).toMatchObject([{ utteranceId: 'u1', reason: 'held' }]);
    expect(next.of('transcript')).toMatchObject([{ delta: 'Hello' }]);
  });

  it('a black hole is noticed while the agent speaks: 1.5 s without a report hold the session, the next message frees it', () => {
    const { start, say, clock, agent, heard } = make();
    start();
    agent.mark(startMark(1, false));
    agent.frames(12);
    clock.advanceMs(100);
    say({ type: 'playback.position', utteranceId: 'u1', playedMs: 60 });
    for (let i = 0; i < 17; i++) {
      if (heard.block!.downlink.freeFrames > 5) agent.frames(5);
      clock.advanceMs(100);
    }
    expect(heard.log.at(-1)).toBe('{"type":"hold","held":true}');
    say({ type: 'ping' });
    expect(heard.log.at(-1)).toBe('{"type":"hold","held":false}');
  });
});

describe('what the page is told of the conversation', () => {
  it('states follow one another, a noise takes its words back, and latency waits for the ear', () => {
    const { start, say, socket, clock, leg, agent } = make();
    start();
    leg.conversationEvent(speech('start', 't1'));
    leg.conversationEvent({ type: 'partial', text: 'uh', atMs: 9, turnId: 't1' });
    leg.conversationEvent(speech('start', 't2'));
    expect(socket.of('transcript').map(({ turnId, text, final }) => [turnId, text, final])).toEqual([
      ['t1', 'uh', false],
      ['t1', '', true],
    ]);
    const turn = {
      turnId: 't2',
      role: 'user',
      startMs: 0,
      endMs: 9,
      text: 'yes',
      heardText: 'yes',
      interrupted: false,
    } as const;
    leg.conversationEvent({ type: 'turn', turn });
    agent.mark(startMark(3, false));
    agent.frames(10);
    clock.advanceMs(20);
    leg.conversationEvent({ type: 'speech', who: 'agent', phase: 'start', atMs: 30, turnId: 't3' });
    leg.conversationEvent({
      type: 'latency',
      latency: { turnId: 't3', eouMs: 300, sttMs: 320, ttsMs: 400, agentMs: 410 },
    });
    expect(socket.of('latency')).toEqual([]);
    clock.advanceMs(100);
    say({ type: 'playback.position', utteranceId: 'u1', playedMs: 20 });
    expect(socket.of('latency')).toMatchObject([{ turnId: 't3', eouMs: 300, agentMs: 410, llmMs: 0 }]);
    const heardMs = Number(socket.of('latency')[0]!['heardMs']);
    expect(heardMs).toBeGreaterThan(480);
    expect(heardMs).toBeLessThanOrEqual(510);
    expect(socket.of('state').map(({ state }) => state)).toEqual(['thinking', 'speaking']);
  });

  it('turns of a session that another process had come again as final', () => {
    const turns = [
      { turnId: 't1', role: 'agent', startMs: 0, endMs: 9, text: 'Hello.', heardText: 'Hello.', interrupted: false },
    ] as const;
    const resumed = {
      audio: { input: { codec: 'opus', rateHz: 48000 }, output: { codec: 'opus', rateHz: 48000 } },
      turns: [...turns],
    } as const;
    const { say, socket, heard } = make({ web: { ...setup.web, resumed: { ...resumed, turns: [...turns] } } });
    say({ type: 'session.resume', lastOrdinal: 12 });
    expect(heard.audio).toEqual(resumed.audio);
    expect(socket.of('session.ready')).toMatchObject([{ resumed: true, audio: { output: { codec: 'opus' } } }]);
    expect(socket.of('transcript')).toMatchObject([{ turnId: 't1', text: 'Hello.', final: true, ordinal: 13 }]);
  });
});

describe('a tool of the page', () => {
  const ask = { toolCallId: 'tc_1', name: 'open_page', arguments: { path: '/pricing' }, expiresAtEpochMs: 0 };

  it('is asked for once, whoever asks again; its result and its error reach the agent, and a second one nobody', () => {
    const { start, say, socket, leg, heard } = make();
    start();
    expect([leg.toolAsked(ask, 3_000), leg.toolAsked(ask, 3_000)]).toEqual([true, true]);
    expect(socket.of('tool.call')).toMatchObject([
      { toolCallId: 'tc_1', name: 'open_page', arguments: { path: '/pricing' }, timeoutMs: 3_000, ordinal: 1 },
    ]);
    say({ type: 'tool.result', toolCallId: 'tc_1', result: { ok: true } });
    say({ type: 'tool.result', toolCallId: 'tc_1', result: { ok: true } });
    leg.toolAsked({ ...ask, toolCallId: 'tc_2' }, 3_000);
    say({ type: 'tool.result', toolCallId: 'tc_2', error: 'there is no such page' });
    expect(heard.log.filter((line) => line.startsWith('tool'))).toEqual([
      'tool tc_1 {"ok":true,"status":null,"result":{"ok":true}}',
      'tool tc_2 {"ok":false,"code":"client_error","message":"there is no such page","status":null}',
    ]);
    expect(socket.of('warning')).toMatchObject([{ code: 'unknown_tool_call' }]);
  });

  it('that was called off is not waited for; wrong messages are told', () => {
    const { start, say, socket, leg, heard } = make();
    start();
    leg.toolAsked(ask, 3_000);
    leg.toolCancelled('tc_1');
    say({ type: 'tool.result', toolCallId: 'tc_1', result: 1 });
    say({ type: 'tool.result', toolCallId: 7 });
    say({ type: 'tool.result', toolCallId: 'tc_1', error: {} });
    expect(socket.of('warning').map(({ code }) => code)).toEqual(['unknown_tool_call', 'bad_message', 'bad_message']);
    expect(heard.log.filter((line) => line.startsWith('tool'))).toEqual([]);
  });

  it('asked for while the connection is lost is asked for when it is back', () => {
    const { start, say, socket, leg, open } = make();
    start();
    socket.close(1006, '');
    leg.toolAsked(ask, 3_000);
    const next = open();
    say({ type: 'session.resume', lastOrdinal: 0 }, next);
    expect(next.of('tool.call')).toMatchObject([{ toolCallId: 'tc_1' }]);
  });
});
