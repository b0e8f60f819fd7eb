/**
 * One conversation: takes over what the click has set going, joins microphone, connection and speaker, and tells its
 * host how it fares. Everything that it opens it closes, whichever way it ends.
 */
import type { Fault, FaultCode, Session, SessionHost, Unlocked } from '../contract/ports.ts';
import { type Connection, createConnection } from './connection.ts';
import { createMicrophone, type Microphone } from './microphone.ts';
import { OPUS_RATE_HZ, type OpusSupport, probeOpus } from './opus.ts';
import { createSpeaker, type Speaker } from './speaker.ts';
import { stopAll } from './stop-all.ts';
import { answerTool } from './tools.ts';
import type { AudioFormat, Ready, ServerMessage } from './wire.ts';
import { loadWorklets } from './worklets.ts';

/** A token opens a socket for 60 s; the visitor may have thought about the prompt for longer. */
const TOKEN_FRESH_MS = 50_000;
/** A loss that is mended within this is not shown. */
const GRACE_MS = 1_500;
const DRAIN_LIMIT_MS = 2_000;
const DRAIN_POLL_MS = 50;
const CLOSE_AFTER_MS = 60;
/** 200 ms of frames: above, the oldest are given up. */
const MAX_WAITING_FRAMES = 10;
const LIVENESS_MS = 3_000;
/** What the loader maps further; anything else of the server's is `server`. */
const CODES: Record<string, FaultCode> = {
  origin_not_allowed: 'origin_not_allowed',
  agent_not_found: 'agent_not_found',
  concurrency_limit: 'rate_limited',
  token_expired: 'token_expired',
  token_used: 'token_expired',
  token_invalid: 'token_expired',
  network: 'network',
};
const SHOWN = new Set(['state', 'speech', 'transcript', 'latency', 'tool', 'warning']);

export function createSession(host: SessionHost, unlocked: Unlocked): Session {
  const { context } = unlocked;
  const opus: Promise<OpusSupport> =
    host.config.codec === 'pcm' ? Promise.resolve({ encode: false, decode: false }) : probeOpus();
  let audio: { encode: boolean; decode: boolean } = { encode: false, decode: false };
  let speaker: Speaker | null = null;
  let microphone: Microphone | null = null;
  let lastOrdinal = 0;
  let wasConnected = false;
  let isOver = false;
  let isMuted = false;
  let graceTimer = 0;
  let attempt = 0;
  let bytesPerFrame = 640;
  const waiting: ArrayBuffer[] = [];

  const connection: Connection = createConnection(address, {
    hello: (resumed) => (resumed ? { type: 'session.resume', lastOrdinal, ...formats() } : hello()),
    ready,
    message: take,
    audio: (bytes) => speaker?.audio(bytes),
    roundTrip: (rttMs) => host.emit('network', { rttMs: Math.round(rttMs) }),
    lost() {
      attempt = 0;
      graceTimer = setTimeout(() => host.connecting(attempt || 1), GRACE_MS) as unknown as number;
    },
    attempt(count) {
      attempt = count;
    },
    tokenLost: () => void again(),
    over: (code, reason) => void closedBy(code, reason),
  });

  function address(token: string): string {
    const query = `token=${encodeURIComponent(token)}&parentOrigin=${encodeURIComponent(location.origin)}`;
    return `${host.config.base.replace(/^http/, 'ws')}/ws/live?${query}`;
  }

  const pcm = (sampleRate: number): object => ({ codec: 'pcm_s16le', sampleRate, frameMs: 20 });
  const formats = (): object => {
    const own = { codec: 'opus', sampleRate: OPUS_RATE_HZ, frameMs: 20 };
    return {
      audio: {
        input: audio.encode ? [own, pcm(16_000)] : [pcm(16_000)],
        output: audio.decode ? [own, pcm(24_000)] : [pcm(24_000)],
      },
    };
  };
  const hello = (): object => ({
    type: 'session.start',
    protocol: '1',
    ...formats(),
    name: host.options.name,
    metadata: host.options.metadata,
    client: { sdk: 'embed.js', version: host.version, echoCancellation: true },
    bufferMs: 200,
  });

  /**
   * Where no prompt stands between, the socket does not wait for the microphone: the agent may
   * begin while the device wakes up.
   */
  async function run(): Promise<void> {
    const beganAtMs = performance.now();
    const [support] = await Promise.all([opus, loadWorklets(context, host.workletUrl)]);
    if (isOver) return;
    audio = support;
    speaker = createSpeaker(context, {
      started: (utteranceId, atMs) => host.emit('state', { state: 'audible', utteranceId, atMs }),
      position: (utteranceId, playedMs) =>
        utteranceId && connection.send({ type: 'playback.position', utteranceId, playedMs }),
      level: (level) => host.emit('level', { who: 'agent', level }),
      underrun: () => host.emit('network', { underrun: true }),
      silenced: (atMs) => host.emit('state', { state: 'silenced', atMs }),
      codecFailed: withoutOpus,
    });
    microphone = createMicrophone(context, host.requestMicrophone, {
      packet: sendPacket,
      level: (level) => host.emit('level', { who: 'user', level }),
      lost: () =>
        host.emit('warning', { code: 'mic_lost', message: 'The microphone was disconnected; looking for another.' }),
      found: () => host.emit('warning', { code: 'mic_found', message: 'The microphone is back.' }),
      gone: (error) => void host.faultOf(error).then(fail),
      codecFailed: withoutOpus,
    });
    const listening = unlocked.microphone.then((stream) => microphone!.use(stream));
    if (!(await unlocked.granted)) await listening;
    let token = await unlocked.token;
    if (performance.now() - beganAtMs > TOKEN_FRESH_MS) token = await host.requestToken();
    if (isOver) return;
    connection.open(token);
    await listening;
  }

  function ready(message: Ready): void {
    clearTimeout(graceTimer);
    bytesPerFrame = message.audio.input.codec === 'opus' ? 80 : (message.audio.input.sampleRate * 2) / 50;
    const changed = formatChanged(message);
    if (changed || !message.resumed) {
      speaker?.format(message.audio.output);
      microphone?.format(message.audio.input);
    }
    if (isMuted) connection.send({ type: 'audio.mute', muted: true });
    wasConnected = true;
    host.connected(message.callUuid);
  }

  let known = '';
  function formatChanged({ audio: { input, output } }: Ready): boolean {
    const now = [input, output].map(({ codec, sampleRate }: AudioFormat) => `${codec}/${sampleRate}`).join();
    const changed = now !== known;
    known = now;
    return changed;
  }

  function take(message: ServerMessage): void {
    if (message.ordinal !== undefined) lastOrdinal = Math.max(lastOrdinal, message.ordinal);
    if (message.type === 'agent.audio') {
      if (message.phase === 'start') speaker?.begin(message.utteranceId ?? '');
      else speaker?.endOf(message.utteranceId ?? '');
    } else if (message.type === 'playback.clear') speaker?.clear();
    else if (message.type === 'tool.call') void answerTool(host.tools, message, connection.send);
    else if (message.type === 'session.ended') {
      // Nothing more comes. The socket's close must not race the last words for the reason, and
      // no loss of it is a loss any more.
      connection.close(null);
      void finishSpeaking(message.reason ?? 'ended');
    }
    if (SHOWN.has(message.type)) host.emit(message.type as 'state', message);
  }

  function sendPacket(packet: ArrayBuffer): void {
    if (!connection.isLive) {
      waiting.length = 0;
      return;
    }
    waiting.push(packet);
    if (waiting.length > MAX_WAITING_FRAMES) waiting.shift();
    while (waiting.length > 0 && connection.bufferedBytes < bytesPerFrame * MAX_WAITING_FRAMES) {
      connection.sendAudio(waiting.shift()!);
    }
  }

  /** A codec that fails in mid-call: the session is resumed with PCM. */
  function withoutOpus(): void {
    if (isOver || (!audio.encode && !audio.decode)) return;
    audio = { encode: false, decode: false };
    connection.renew();
  }

  /** The agent's last words are heard to their end. */
  async function finishSpeaking(reason: string): Promise<void> {
    speaker?.finish();
    const untilMs = performance.now() + DRAIN_LIMIT_MS;
    while (!isOver && speaker?.isSilent === false && performance.now() < untilMs) {
      await new Promise((done) => setTimeout(done, DRAIN_POLL_MS));
    }
    if (release(null)) host.ended(reason);
  }

  async function closedBy(code: string, reason: string): Promise<void> {
    if (isOver) return;
    if (code === 'ended') return finishSpeaking('ended');
    if (wasConnected) {
      const reachable = code !== 'network' || (await answers(host.config.base));
      return fail({ code: reachable ? 'server' : 'network', reason: code === 'network' ? reason : code });
    }
    const mapped = CODES[code];
    // Before the first ready a lost socket looks to a page as one that its policy forbids.
    if (mapped === undefined && code === 'token_lost') return fail(await host.faultOf(new TypeError(reason)));
    fail({ code: mapped ?? 'server', reason: code });
  }

  /** The socket was lost before it was any good; its token is used up. */
  async function again(): Promise<void> {
    try {
      const token = await host.requestToken();
      if (!isOver) connection.open(token);
    } catch (error) {
      fail(await host.faultOf(error));
    }
  }

  function fail(fault: Fault): void {
    if (release({ type: 'session.end', reason: 'client_error' })) host.failed(fault);
  }

  /** True for whoever comes first. */
  function release(farewell: object | null): boolean {
    if (isOver) return false;
    isOver = true;
    clearTimeout(graceTimer);
    microphone?.close();
    speaker?.close();
    connection.close(farewell);
    unlocked.microphone.then(stopAll, () => {});
    context.removeEventListener('statechange', wake);
    document.removeEventListener('click', wake, true);
    // The speaker fades out first.
    setTimeout(() => void context.close().catch(() => {}), CLOSE_AFTER_MS);
    return true;
  }

  /** iOS suspends the context for a telephone call; resuming one that is `interrupted` would freeze it. */
  function wake(): void {
    if (context.state === 'suspended' && !isOver) context.resume().catch(() => {});
  }
  context.addEventListener('statechange', wake);
  document.addEventListener('click', wake, true);

  run().catch(async (error: unknown) => fail(await host.faultOf(error)));

  return {
    end(reason) {
      if (release({ type: 'session.end', reason })) host.ended(reason);
    },
    mute(muted) {
      isMuted = muted;
      microphone?.mute(muted);
      connection.send({ type: 'audio.mute', muted });
    },
    sendText: (text) => connection.send({ type: 'user.text', text: text.slice(0, 2000), interrupt: true }),
    sendDigits: (digits) => connection.send({ type: 'dtmf', digits }),
  };
}

/** Whether the service can be reached at all, for a page that has lost it. */
async function answers(base: string): Promise<boolean> {
  try {
    await fetch(`${base}/livez`, { mode: 'no-cors', cache: 'no-store', signal: AbortSignal.timeout(LIVENESS_MS) });
    return true;
  } catch {
    return false;
  }
}
