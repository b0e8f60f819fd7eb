/**
 * One browser session of one planned call: asks for a token, opens the socket, lets the visitor talk, loses the socket
 * where that is planned (or happens) and comes back, and says what became of it. Made by the browser target; never
 * rejects.
 */
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { FrameClock } from '../../../emulators/frame-clock.ts';
import { createRandom } from '../../../harness/seeded-random.ts';
import { type LiveAudio, LiveClient } from '../../../live-client/live-client.ts';
import type { MeasuredCall } from '../../contract/measured-call.ts';
import type { PlannedCall } from '../../contract/planned-call.ts';
import { createTalkPlan } from '../../far-end/talk-plan.ts';
import { notBegun } from '../../run/not-begun.ts';
import type { TargetDeps } from '../driven-target.ts';
import type { Deployment } from '../target-plan.ts';
import { type Ended, lossOf, messageOf, refusal, refusalOf, resumeTokenOf } from './live-answers.ts';
import type { TokenAnswer } from './session-token.ts';
import { Visitor } from './visitor.ts';

export interface SessionDeps extends TargetDeps {
  deployment: Deployment;
  frameClock: FrameClock;
  gapBufferMs: number;
  soundFolder: string | null;
  headers: Record<string, string>;
  /** `signal`: the run was stopped. */
  token(signal: AbortSignal): Promise<TokenAnswer>;
}

const AUDIO: Record<PlannedCall['codec'], { input: LiveAudio; output: LiveAudio }> = {
  pcm16: { input: { codec: 'pcm_s16le', sampleRate: 16000 }, output: { codec: 'pcm_s16le', sampleRate: 24000 } },
  mulaw: { input: { codec: 'mulaw', sampleRate: 8000 }, output: { codec: 'mulaw', sampleRate: 8000 } },
  opus: { input: { codec: 'opus', sampleRate: 48000 }, output: { codec: 'opus', sampleRate: 48000 } },
};
const GOODBYE_LIMIT_MS = 3_000;
/** As a page comes back. */
const RESUME_AFTER_MS = [250, 500, 1_000, 2_000, 4_000];
const CUT: Ended = { fate: 'cut', code: null, why: 'the run was stopped under it', by: 'far_end' };

export class BrowserSession {
  readonly #planned: PlannedCall;
  readonly #deps: SessionDeps;
  readonly #begunAtMs: number;
  readonly #left = new AbortController();
  callUuid: string | null = null;
  #placementMs: number | null = null;
  #dialledMs: number | null = null;
  /** From the answer on. */
  #visitor: Visitor | null = null;
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
    if (this.#isCut) ended = CUT;
    const endedAtMs = this.#deps.clock.nowMs();
    const { fate, code, why, by } = ended;
    const visitor = this.#visitor;
    return {
      ...notBegun(this.#planned, fate, code, why, this.#begunAtMs),
      placementMs: this.#placementMs,
      dialledMs: this.#dialledMs,
      answeredAtMs: visitor?.answeredAtMs ?? null,
      endedAtMs,
      endedBy: by,
      ...visitor?.judged(endedAtMs),
      resumes: visitor?.resumes ?? [],
      recordingPath: await this.#writeSound(endedAtMs),
    };
  }

  /** Ends the session now; resolves when its socket is closed. */
  async hangUp(): Promise<void> {
    this.#isCut = true;
    this.#left.abort();
    // One that is not answered yet would wait for a target that has stopped answering.
    if (this.#visitor === null) this.#client?.cut();
    await this.#client?.closed;
  }

  async #live(): Promise<Ended> {
    const { clock, token, clips, gapBufferMs, soundFolder } = this.#deps;
    const { atMs, lengthMs, resumesAtMs, seed } = this.#planned;
    const answer = await token(this.#left.signal);
    this.#placementMs = clock.nowMs() - atMs;
    if (answer.token === null) return refusal(answer.code, answer.why);
    const talk = createTalkPlan(this.#planned.talk, await clips.framesOf(this.#planned.talk), createRandom(seed));
    if (this.#isCut) return CUT;
    let client = this.#open(answer.token, {});
    const ready = await messageOf(client, 'session.ready');
    if (ready === null) {
      client.cut();
      return refusalOf(client);
    }
    this.#dialledMs = clock.nowMs() - atMs;
    this.callUuid = String(ready['callUuid']);
    const keepsSound = soundFolder !== null;
    const visitor = new Visitor({ planned: this.#planned, talk, clock, gapBufferMs, keepsSound });
    this.#visitor = visitor;
    client.begin();

    const leavesAtMs = visitor.answeredAtMs + lengthMs;
    let dropsAtMs = resumesAtMs === null ? Number.POSITIVE_INFINITY : visitor.answeredAtMs + resumesAtMs;
    for (;;) {
      // Which of the two it waits for is settled before: a timer may ring a moment before its time.
      const drops = dropsAtMs < leavesAtMs;
      const came = await this.#until(client, drops ? dropsAtMs : leavesAtMs);
      if (came === 'time' && (!drops || this.#left.signal.aborted)) return this.#leave(client);
      if (came === 'time') {
        dropsAtMs = Number.POSITIVE_INFINITY;
        client.cut();
        await client.closed;
      } else if (client.messages.some(({ type }) => type === 'session.ended')) {
        return { fate: 'talked', code: null, why: null, by: 'target' };
      }
      visitor.lostSocket();
      const next = await this.#comeBack(client);
      if (next === null) return lossOf(client);
      client = next;
    }
  }

  #open(token: string, more: { resumes?: boolean }): LiveClient {
    const { deployment, frameClock, frameSent, headers } = this.#deps;
    const client = new LiveClient({
      baseUrl: deployment.url,
      token,
      parentOrigin: deployment.origin,
      headers,
      ...AUDIO[this.#planned.codec],
      ...(more.resumes === true ? { start: null } : {}),
      visitor: {
        speak: (frame, lateMs) => {
          frameSent(lateMs);
          this.#visitor?.speak(frame);
        },
        hear: (samples) => this.#visitor?.hear(samples, client.speakerRateHz),
        cleared: () => this.#visitor?.cleared(),
        everyFrame: (session) => frameClock.add(session),
      },
    });
    this.#client = client;
    return client;
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
    const resumeToken = resumeTokenOf(lost);
    for (const afterMs of RESUME_AFTER_MS) {
      await wait(afterMs, undefined, { signal: this.#left.signal }).catch(() => {});
      if (this.#left.signal.aborted) return null;
      const client = this.#open(resumeToken, { resumes: true });
      if (await this.#resumes(client, lost.lastOrdinal)) {
        client.begin();
        return client;
      }
      client.cut();
    }
    return null;
  }

  async #resumes(client: LiveClient, lastOrdinal: number): Promise<boolean> {
    if ((await messageOf(client, 'welcome')) === null) return false;
    client.send({ type: 'session.resume', lastOrdinal });
    return (await messageOf(client, 'session.ready')) !== null;
  }

  async #writeSound(endedAtMs: number): Promise<string | null> {
    const { soundFolder } = this.#deps;
    if (soundFolder === null || this.#visitor === null) return null;
    return this.#visitor.writeSound(join(soundFolder, `call-${this.#planned.index}.wav`), endedAtMs);
  }
}
