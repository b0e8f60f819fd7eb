/**
 * One visitor of one planned call: asks for a token, opens the socket, speaks and listens, loses the socket where that
 * is planned (or happens) and comes back, and says what became of it. Made by the browser target; never rejects.
 */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { FrameClock } from '../../../emulators/frame-clock.ts';
import { createRandom } from '../../../harness/seeded-random.ts';
import { type LiveAudio, LiveClient, type LiveMessage } from '../../../live-client/live-client.ts';
import type { CallFate, MeasuredCall } from '../../contract/measured-call.ts';
import type { PlannedCall } from '../../contract/planned-call.ts';
import { CallRecording } from '../../far-end/call-recording.ts';
import { SILENT_FRAME } from '../../far-end/said-sound.ts';
import { SoundJudge } from '../../far-end/sound-judge.ts';
import { createTalkPlan, patienceOf, type TalkPlan } from '../../far-end/talk-plan.ts';
import { notBegun } from '../../run/not-begun.ts';
import type { TargetDeps } from '../driven-target.ts';
import type { Deployment } from '../target-plan.ts';
import { toLine, toMicrophone } from './line-sound.ts';
import type { TokenAnswer } from './session-token.ts';

export interface SessionDeps extends TargetDeps {
  deployment: Deployment;
  frameClock: FrameClock;
  gapBufferMs: number;
  soundFolder: string | null;
  headers: Record<string, string>;
  token(): Promise<TokenAnswer>;
}

const AUDIO: Record<PlannedCall['codec'], { input: LiveAudio; output: LiveAudio }> = {
  pcm16: { input: { codec: 'pcm_s16le', sampleRate: 16000 }, output: { codec: 'pcm_s16le', sampleRate: 24000 } },
  mulaw: { input: { codec: 'mulaw', sampleRate: 8000 }, output: { codec: 'mulaw', sampleRate: 8000 } },
  opus: { input: { codec: 'opus', sampleRate: 48000 }, output: { codec: 'opus', sampleRate: 48000 } },
};
const READY_LIMIT_MS = 20_000;
const GOODBYE_LIMIT_MS = 3_000;
/** As a page comes back. */
const RESUME_AFTER_MS = [250, 500, 1_000, 2_000, 4_000];
/** Said in order: not now, too many. The rest went wrong. */
const REFUSALS = ['concurrency_limit', 'draining', 'embed_rate_limit', 'api_rate_limit'];

interface Ended {
  fate: CallFate;
  code: string | null;
  why: string | null;
  by: MeasuredCall['endedBy'];
}

export class BrowserSession {
  readonly #planned: PlannedCall;
  readonly #deps: SessionDeps;
  readonly #begunAtMs: number;
  readonly #resumes: MeasuredCall['resumes'] = [];
  readonly #left = new AbortController();
  callUuid: string | null = null;
  #placementMs: number | null = null;
  #dialledMs: number | null = null;
  #answeredAtMs: number | null = null;
  #judge: SoundJudge | null = null;
  #recording: CallRecording | null = null;
  #talk: TalkPlan | null = null;
  #client: LiveClient | null = null;
  #isCut = false;

  constructor(planned: PlannedCall, deps: SessionDeps) {
    this.#planned = planned;
    this.#deps = deps;
    this.#begunAtMs = deps.clock.nowMs();
  }

  async run(): Promise<MeasuredCall> {
    let ended: Ended;
    try {
      ended = await this.#live();
    } catch (error) {
      ended = { fate: 'failed', code: 'session', why: (error as Error).message, by: null };
    }
    if (this.#isCut) ended = { fate: 'cut', code: null, why: 'the run was stopped under it', by: 'far_end' };
    const endedAtMs = this.#deps.clock.nowMs();
    const { fate, code, why, by } = ended;
    return {
      ...notBegun(this.#planned, fate, code, why, this.#begunAtMs),
      placementMs: this.#placementMs,
      dialledMs: this.#dialledMs,
      answeredAtMs: this.#answeredAtMs,
      endedAtMs,
      endedBy: by,
      ...this.#judge?.finish(endedAtMs),
      resumes: this.#resumes,
      recordingPath: await this.#writeSound(endedAtMs),
    };
  }

  /** Ends the session now; resolves when its socket is closed. */
  async hangUp(): Promise<void> {
    this.#isCut = true;
    this.#left.abort();
    await this.#client?.closed;
  }

  async #live(): Promise<Ended> {
    const { clock, token } = this.#deps;
    const { atMs, lengthMs, resumesAtMs } = this.#planned;
    const answer = await token();
    this.#placementMs = clock.nowMs() - atMs;
    if (answer.token === null) return refusal(answer.code, answer.why);
    this.#talk = createTalkPlan(
      this.#planned.talk,
      await this.#deps.clips.framesOf(this.#planned.talk),
      createRandom(this.#planned.seed),
    );
    const first = this.#open(answer.token, {});
    const ready = await readyOf(first);
    if (ready === null) return refusalOf(first, 'the socket was closed before the session was ready');
    this.#dialledMs ??= clock.nowMs() - atMs;
    this.#answered(ready);
    first.begin();

    const untilMs = this.#answeredAtMs! + lengthMs;
    let lossAtMs = resumesAtMs === null ? Number.POSITIVE_INFINITY : this.#answeredAtMs! + resumesAtMs;
    for (let client: LiveClient = first; ; ) {
      const isOver = await this.#until(client, Math.min(untilMs, lossAtMs));
      if (isOver === 'time' && clock.nowMs() < untilMs && !this.#left.signal.aborted) {
        lossAtMs = Number.POSITIVE_INFINITY;
        client.cut();
        await client.closed;
      } else if (isOver === 'time') return this.#leave(client);
      else if (client.messages.some(({ type }) => type === 'session.ended')) {
        return { fate: 'talked', code: null, why: null, by: 'target' };
      }
      const next = await this.#comeBack(client);
      if (next === null) {
        const code = String(client.closeCode);
        return {
          fate: 'lost',
          code,
          why: `its socket was closed with ${code} and the session not had again`,
          by: 'target',
        };
      }
      client = next;
    }
  }

  #open(token: string, more: { resumes?: boolean }): LiveClient {
    const { clock, deployment, frameClock, frameSent, headers } = this.#deps;
    const client = new LiveClient({
      baseUrl: deployment.url,
      token,
      parentOrigin: deployment.origin,
      headers,
      ...AUDIO[this.#planned.codec],
      ...(more.resumes === true ? { start: null } : {}),
      visitor: {
        speak: (frame, lateMs) => {
          const nowMs = clock.nowMs();
          frameSent(lateMs);
          const said = this.#talk!.frame(nowMs, this.#judge!.targetHeardMs(nowMs));
          toMicrophone(said.mulaw, frame);
          if (said !== SILENT_FRAME) this.#judge!.farEndFrame(nowMs, said.mulaw);
          this.#recording?.said(nowMs, said.mulaw);
        },
        hear: (samples) => this.#heard(toLine(samples, client.speakerRateHz)),
        cleared: () => {
          this.#judge?.cleared(clock.nowMs());
          this.#recording?.cleared(clock.nowMs());
        },
        everyFrame: (session) => frameClock.add(session),
      },
    });
    this.#client = client;
    return client;
  }

  #heard(mulaw: Uint8Array): void {
    const nowMs = this.#deps.clock.nowMs();
    const playedAtMs = this.#judge?.agentFrame(nowMs, mulaw) ?? nowMs;
    this.#recording?.heard(playedAtMs, mulaw);
    const last = this.#resumes.at(-1);
    if (last?.resumedAfterMs === null && mulaw.some((byte) => (~byte & 0x7f) > 0x1c))
      last.resumedAfterMs = nowMs - last.atMs;
  }

  #answered(ready: LiveMessage): void {
    const nowMs = this.#deps.clock.nowMs();
    this.callUuid = String(ready['callUuid']);
    this.#answeredAtMs = nowMs;
    this.#judge = new SoundJudge({
      answeredAtMs: nowMs,
      gapBufferMs: this.#deps.gapBufferMs,
      patienceMs: patienceOf(this.#planned.talk),
      expectSignal: false,
    });
    if (this.#deps.soundFolder !== null) this.#recording = new CallRecording(nowMs);
  }

  /** `time`: it is that late, or the run was stopped; `closed`: the socket was. */
  async #until(client: LiveClient, atMs: number): Promise<'time' | 'closed'> {
    const { signal } = this.#left;
    const timed = new AbortController();
    const time = wait(Math.max(0, atMs - this.#deps.clock.nowMs()), 'time' as const, {
      signal: AbortSignal.any([signal, timed.signal]),
    }).catch(() => 'time' as const);
    const which = await Promise.race([time, client.closed.then(() => 'closed' as const)]);
    timed.abort();
    return which;
  }

  async #leave(client: LiveClient): Promise<Ended> {
    client.send({ type: 'session.end' });
    await Promise.race([client.closed, wait(GOODBYE_LIMIT_MS, undefined, { ref: false })]);
    client.cut();
    return { fate: 'talked', code: null, why: null, by: 'far_end' };
  }

  /** Null: the session is not had again. */
  async #comeBack(lost: LiveClient): Promise<LiveClient | null> {
    const resume = { atMs: this.#deps.clock.nowMs(), resumedAfterMs: null };
    this.#resumes.push(resume);
    const resumeToken = tokenOf(lost);
    for (const afterMs of RESUME_AFTER_MS) {
      await wait(afterMs);
      if (this.#left.signal.aborted) return null;
      const client = this.#open(resumeToken, { resumes: true });
      const welcome = await messageOf(client, 'welcome');
      if (welcome === null) continue;
      client.send({ type: 'session.resume', lastOrdinal: lost.lastOrdinal });
      if ((await readyOf(client)) === null) continue;
      client.begin();
      return client;
    }
    return null;
  }

  async #writeSound(endMs: number): Promise<string | null> {
    const { soundFolder } = this.#deps;
    if (soundFolder === null || this.#recording === null) return null;
    const path = join(soundFolder, `call-${this.#planned.index}.wav`);
    return writeFile(path, this.#recording.toWav(endMs)).then(
      () => path,
      () => null,
    );
  }
}

function readyOf(client: LiveClient): Promise<LiveMessage | null> {
  return messageOf(client, 'session.ready');
}

/** Null: the socket was closed before, or nothing came for long. */
async function messageOf(client: LiveClient, type: string): Promise<LiveMessage | null> {
  const came = client.waitForType(type, READY_LIMIT_MS).catch(() => null);
  return Promise.race([came, client.closed.then(() => null)]);
}

function tokenOf(client: LiveClient): string {
  return String(client.messages.find(({ type }) => type === 'session.ready')?.['resumeToken'] ?? '');
}

function refusalOf(client: LiveClient, otherwise: string): Ended {
  const error = client.messages.find(({ type }) => type === 'error');
  if (error === undefined) return refusal(String(client.closeCode || 'no_answer'), otherwise);
  return refusal(String(error['code']), String(error['message']));
}

function refusal(code: string, why: string): Ended {
  return { fate: REFUSALS.includes(code) ? 'refused' : 'failed', code, why, by: 'target' };
}
