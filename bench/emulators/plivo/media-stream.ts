/**
 * The carrier's side of one media stream: dials the gateway's WebSocket, sends `start` and then the callee's audio
 * every 20 ms, plays what comes back in real time and answers checkpoints and clears as Plivo does. Opened by the
 * emulated call for a `<Stream>`. What the gateway does against the protocol is noted, never corrected.
 */
import { WebSocket } from 'ws';
import { MULAW_SILENCE } from '../../../media/contract/audio-format.ts';
import type { Clock } from '../../../media/contract/clock.ts';
import type { CallTruth } from '../call-truth.ts';
import type { Callee } from '../callees/callee.ts';
import type { EmulatorEventDetail } from '../emulator-event.ts';
import type { FrameClock, FrameSession } from '../frame-clock.ts';
import type { MediaFault } from '../persona.ts';
import { Playout } from '../playout.ts';
import type { CallbackSender } from './callback-sender.ts';
import { MediaFaults } from './media-faults.ts';

/** Between two frames that play without a gap. */
const LONGEST_FRAME_GAP_MS = 40;
const FRAME_BYTES = 160;
/** Plivo's best-practices page: 40 s; above it the stream reports `buffer_overflow`. */
const PLAYOUT_CAPACITY_BYTES = 40_000 * 8;
const CONNECT_ATTEMPTS = 3;
const RETRY_AFTER_MS = 200;
const CLOSE_GRACE_MS = 2_000;
/** A message of the gateway's may not be longer. */
const MAX_MESSAGE_BYTES = 65_536;
const MAX_PAYLOAD_CHARS = 16_384;
/** Mu-law magnitude of about -48 dBFS: what a person could hear. */
const AUDIBLE_MAGNITUDE = 0x10;

export interface MediaStreamOptions {
  url: string;
  streamId: string;
  callUuid: string;
  accountId: string;
  extraHeaders: string;
  /** An upgrade that takes longer is given up. */
  handshakeTimeoutMs: number;
  clock: Clock;
  frameClock: FrameClock;
  sender: CallbackSender;
  callee: Callee;
  truth: CallTruth;
  faults: readonly MediaFault[];
  onOpen(): void;
  /** Once, when the stream is over; `failure` says why it never opened. */
  onClosed(failure: string | null): void;
  tell(event: EmulatorEventDetail): void;
}

export interface MediaStream {
  readonly streamId: string;
  /** The carrier ends the stream. Idempotent; `onClosed` follows. */
  close(): void;
}

export function openMediaStream(options: MediaStreamOptions): MediaStream {
  const { clock, truth } = options;
  let session: StreamSession | null = null;
  let socket: WebSocket | null = null;
  let cancelTimer: (() => void) | null = null;
  let over = false;

  const finish = (failure: string | null): void => {
    if (over) return;
    over = true;
    cancelTimer?.();
    options.onClosed(failure);
  };

  const dial = (attempt: number): void => {
    const faulty = options.faults.some((fault) => fault.kind === 'wrong_token');
    const url = faulty ? withWrongToken(options.url) : options.url;
    const unsigned = options.faults.some((fault) => fault.kind === 'unsigned_upgrade');
    const dialled = new WebSocket(url, {
      headers: unsigned ? {} : options.sender.upgradeHeaders(url),
      handshakeTimeout: options.handshakeTimeoutMs,
      perMessageDeflate: false,
      maxPayload: 4 * MAX_MESSAGE_BYTES,
    });
    socket = dialled;
    let opened = false;
    let refused = false;
    dialled.on('open', () => {
      opened = true;
      if (over) return dialled.terminate();
      session = new StreamSession(options, dialled);
      options.onOpen();
      session.begin();
    });
    dialled.on('message', (data, isBinary) => {
      if (isBinary) truth.protocolFault('a binary message');
      else session?.receive(String(data));
    });
    dialled.on('unexpected-response', (_request, response) => {
      refused = true;
      truth.refusedUpgrades.push(String(response.statusCode));
      response.destroy();
      dialled.terminate();
    });
    dialled.on('error', (error) => {
      if (opened && !over) truth.protocolFault(`the media socket failed: ${error.message}`);
      else if (!refused && !over) truth.refusedUpgrades.push(String(Reflect.get(error, 'code') ?? 'handshake'));
    });
    dialled.on('close', (code) => {
      session?.end(code);
      if (opened || over) return finish(null);
      if (attempt >= CONNECT_ATTEMPTS) return finish('connection_failed');
      cancelTimer = clock.after(RETRY_AFTER_MS, () => dial(attempt + 1));
    });
  };
  dial(1);

  return {
    streamId: options.streamId,
    close() {
      if (over) return;
      cancelTimer?.();
      session?.stop();
      const closing = socket;
      if (closing === null || closing.readyState !== WebSocket.OPEN) {
        closing?.terminate();
        return finish(null);
      }
      closing.close(1000);
      cancelTimer = clock.after(CLOSE_GRACE_MS, () => closing.terminate());
    },
  };
}

function withWrongToken(url: string): string {
  const last = url.at(-1);
  return url.slice(0, -1) + (last === 'A' ? 'B' : 'A');
}

class StreamSession implements FrameSession {
  readonly #options: MediaStreamOptions;
  readonly #socket: WebSocket;
  readonly #playout = new Playout(PLAYOUT_CAPACITY_BYTES);
  readonly #faults: MediaFaults;
  readonly #outgoing = Buffer.alloc(FRAME_BYTES);
  readonly #played = Buffer.alloc(FRAME_BYTES);
  readonly #truthOfStream: CallTruth['streams'][number];
  readonly #startedAtMs: number;
  readonly #messageTail: string;
  #sequence = 0;
  #chunk = 0;
  #removeFromClock: (() => void) | null = null;

  constructor(options: MediaStreamOptions, socket: WebSocket) {
    this.#options = options;
    this.#socket = socket;
    this.#startedAtMs = options.clock.nowMs();
    this.#messageTail = `"},"streamId":"${options.streamId}","extra_headers":${JSON.stringify(options.extraHeaders)}}`;
    this.#faults = new MediaFaults(options.faults, socket, options.clock, () => this.#twin());
    const { truth } = options;
    const openedAtEpochMs = truth.nowEpochMs();
    const before = truth.streams.at(-1);
    if (before !== undefined)
      truth.timeline?.appendSilence(openedAtEpochMs - (before.closedAtEpochMs ?? openedAtEpochMs));
    truth.streamOpenAtEpochMs ??= openedAtEpochMs;
    this.#truthOfStream = { openedAtEpochMs, closedAtEpochMs: null, closeCode: null };
    truth.streams.push(this.#truthOfStream);
  }

  begin(): void {
    const options = this.#options;
    if (!this.#faults.isSilent) {
      this.#send({
        event: 'start',
        sequenceNumber: ++this.#sequence,
        start: {
          callId: options.callUuid,
          streamId: options.streamId,
          accountId: options.accountId,
          tracks: ['inbound'],
          mediaFormat: { encoding: 'audio/x-mulaw', sampleRate: 8000 },
        },
        extra_headers: options.extraHeaders,
      });
    }
    this.#removeFromClock = options.frameClock.add(this);
  }

  /** No frame is sent or played any more. */
  stop(): void {
    this.#removeFromClock?.();
    this.#removeFromClock = null;
  }

  end(closeCode: number): void {
    if (this.#truthOfStream.closedAtEpochMs !== null) return;
    this.stop();
    this.#truthOfStream.closedAtEpochMs = this.#options.truth.nowEpochMs();
    this.#truthOfStream.closeCode = closeCode;
    this.#options.tell({ event: 'stream_closed', closeCode });
  }

  frame(dueAtMs: number, nowMs: number): void {
    const { truth, callee } = this.#options;
    truth.maxFrameLatenessMs = Math.max(truth.maxFrameLatenessMs, nowMs - dueAtMs);
    this.#played.fill(MULAW_SILENCE);
    const agentBytes = this.#playout.pull(this.#played);
    if (agentBytes > 0) this.#notePlayed(agentBytes);
    for (let name = this.#playout.takePlayed(); name !== null; name = this.#playout.takePlayed()) {
      truth.checkpointsPlayed++;
      this.#send({ event: 'playedStream', sequenceNumber: ++this.#sequence, streamId: this.#options.streamId, name });
    }
    callee.hear(this.#played, agentBytes);
    callee.fill(this.#outgoing, nowMs - dueAtMs);
    truth.timeline?.append(this.#outgoing, this.#played);
    this.#sendAudio(dueAtMs);
  }

  #sendAudio(dueAtMs: number): void {
    if (this.#faults.isSilent) return;
    const timestamp = Math.round(this.#options.truth.epochOf(dueAtMs));
    const message =
      `{"event":"media","sequenceNumber":${++this.#sequence},"media":{"track":"inbound","timestamp":"${timestamp}",` +
      `"chunk":${++this.#chunk},"payload":"${this.#outgoing.toString('base64')}${this.#messageTail}`;
    this.#options.truth.framesSent++;
    this.#faults.deliver(message, dueAtMs - this.#startedAtMs);
  }

  #notePlayed(agentBytes: number): void {
    const { truth, tell } = this.#options;
    const nowEpochMs = truth.nowEpochMs();
    if (nowEpochMs - (truth.lastAgentSampleAtEpochMs ?? 0) > LONGEST_FRAME_GAP_MS) {
      truth.agentBegan.push({ atEpochMs: nowEpochMs, playedMs: truth.agentPlayedMs });
    }
    truth.agentPlayedMs += agentBytes / 8;
    truth.lastAgentSampleAtEpochMs = nowEpochMs;
    if (truth.firstAgentSampleAtEpochMs === null) {
      truth.firstAgentSampleAtEpochMs = nowEpochMs;
      tell({ event: 'agent_first_sample', sinceAnsweredMs: nowEpochMs - (truth.answeredAtEpochMs ?? nowEpochMs) });
    }
    if (truth.firstAgentSoundAtEpochMs === null && isAudible(this.#played, agentBytes)) {
      truth.firstAgentSoundAtEpochMs = nowEpochMs;
    }
  }

  /** One message of the gateway's. */
  receive(text: string): void {
    const { truth } = this.#options;
    if (text.length > MAX_MESSAGE_BYTES) truth.protocolFault(`a message of ${text.length} bytes`);
    let fault: string | null;
    try {
      fault = this.#handle(objectOf(JSON.parse(text)) ?? {});
    } catch {
      fault = 'a message that is not JSON';
    }
    if (fault !== null) truth.protocolFault(fault);
  }

  /** Says what was wrong with the message, null when nothing was. */
  #handle(message: Record<string, unknown>): string | null {
    const { event } = message;
    if (event === 'playAudio') return this.#playAudio(objectOf(message['media']));
    if (event === 'sendDTMF') return this.#sendDigits(message['dtmf']);
    if (event !== 'checkpoint' && event !== 'clearAudio') return `event ${JSON.stringify(event)?.slice(0, 40)}`;
    if (message['streamId'] !== this.#options.streamId) return `${event} without this stream's id`;
    if (event === 'clearAudio') return this.#clear();
    const { name } = message;
    if (typeof name !== 'string' || name === '') return 'a checkpoint without a name';
    this.#playout.checkpoint(name);
    return null;
  }

  #playAudio(media: Record<string, unknown> | null): string | null {
    this.#options.truth.agentMessages++;
    const payload = media?.['payload'];
    if (media?.['contentType'] !== 'audio/x-mulaw' || media['sampleRate'] !== 8000) {
      this.#sendError('invalid_content_type');
      return `playAudio of ${JSON.stringify(media?.['contentType'])} at ${JSON.stringify(media?.['sampleRate'])}`;
    }
    if (typeof payload !== 'string' || !/^[A-Za-z0-9+/]*={0,2}$/.test(payload)) return 'playAudio without base64';
    const audio = Buffer.from(payload, 'base64');
    this.#options.callee.arrives?.(audio);
    if (!this.#playout.push(audio)) {
      this.#sendError('buffer_overflow');
      return 'buffer_overflow';
    }
    return payload.length > MAX_PAYLOAD_CHARS ? `a payload of ${payload.length} characters` : null;
  }

  #clear(): null {
    const { truth, tell, streamId } = this.#options;
    const receivedAtEpochMs = truth.nowEpochMs();
    const { droppedBytes, droppedCheckpoints } = this.#playout.clear();
    this.#options.callee.cleared?.();
    const droppedMs = droppedBytes / 8;
    const calleeSpeechStartAtEpochMs = truth.said.at(-1)?.startAtEpochMs ?? null;
    truth.checkpointsDropped += droppedCheckpoints;
    truth.clears.push({
      receivedAtEpochMs,
      lastAgentSampleAtEpochMs: truth.lastAgentSampleAtEpochMs,
      droppedMs,
      droppedCheckpoints,
      agentPlayedMs: truth.agentPlayedMs,
      calleeSpeechStartAtEpochMs,
    });
    this.#send({ event: 'clearedAudio', sequenceNumber: 0, streamId });
    const sinceCalleeSpokeMs =
      calleeSpeechStartAtEpochMs === null ? null : receivedAtEpochMs - calleeSpeechStartAtEpochMs;
    tell({ event: 'clear', droppedMs, sinceCalleeSpokeMs });
    return null;
  }

  #sendDigits(digits: unknown): string | null {
    const { truth, tell } = this.#options;
    if (typeof digits !== 'string' || !/^[0-9*#A-Da-dwW]+$/.test(digits)) return 'sendDTMF without digits';
    truth.digits += digits;
    tell({ event: 'dtmf', digits });
    return null;
  }

  #sendError(reason: string): void {
    this.#send({ event: 'error', sequenceNumber: ++this.#sequence, streamId: this.#options.streamId, reason });
  }

  #send(message: Record<string, unknown>): void {
    if (this.#socket.readyState === WebSocket.OPEN) this.#socket.send(JSON.stringify(message));
  }

  /** The same URL dialled once more: a used token must not open. */
  #twin(): void {
    const { url, sender, truth, handshakeTimeoutMs } = this.#options;
    const twin = new WebSocket(url, { headers: sender.upgradeHeaders(url), handshakeTimeout: handshakeTimeoutMs });
    twin.on('open', () => {
      truth.protocolFault('a used token opened a second stream');
      twin.terminate();
    });
    twin.on('unexpected-response', (_request, response) => {
      truth.refusedUpgrades.push(String(response.statusCode));
      response.destroy();
      twin.terminate();
    });
    twin.on('error', () => {});
  }
}

function isAudible(frame: Buffer, bytes: number): boolean {
  for (let i = 0; i < bytes; i++) if ((~frame[i]! & 0x7f) > AUDIBLE_MAGNITUDE) return true;
  return false;
}

function objectOf(value: unknown): Record<string, unknown> | null {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : null;
}
