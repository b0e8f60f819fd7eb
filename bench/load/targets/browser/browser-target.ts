/**
 * Browser sessions of a Parley as target: `/ws/live` by public key, agent and origin, as a page of that origin opens
 * it. Opened in a far-end process; told where the deployment is once that is known.
 */
import { Pool } from 'undici';
import { FrameClock } from '../../../emulators/frame-clock.ts';
import type { MeasuredCall } from '../../contract/measured-call.ts';
import type { PlannedCall } from '../../contract/planned-call.ts';
import type { RunResult } from '../../contract/run-result.ts';
import { TargetFault } from '../../contract/target.ts';
import type { DrivenTarget, TargetDeps } from '../driven-target.ts';
import { sentenceOf } from '../parley/placing.ts';
import type { BrowserPlan, Deployment } from '../target-plan.ts';
import { BrowserSession } from './browser-session.ts';
import { askForToken, type TokenAnswer } from './session-token.ts';

/** What the option is that an answer speaks of. */
const CODES: Record<string, string> = {
  origin_not_allowed:
    '--origin: the widget key does not allow that origin; `npx parley widget allow <key> <origin>` does',
  invalid_public_key: '--public-key: the deployment has no such key; `npx parley widget list <workspace>` shows them',
  key_not_found: '--public-key: the deployment has no such key; `npx parley widget list <workspace>` shows them',
  agent_not_found:
    '--agent: the workspace has no such agent for the web; `npx parley agent list <workspace>` shows them',
};

export class BrowserTarget implements DrivenTarget {
  readonly #plan: BrowserPlan;
  readonly #deps: TargetDeps;
  readonly #frameClock: FrameClock;
  readonly #live = new Set<BrowserSession>();
  readonly #callIds = new Map<number, string>();
  #deployment: Deployment | null = null;
  #pool: Pool | null = null;

  constructor(plan: BrowserPlan, deps: TargetDeps) {
    this.#plan = plan;
    this.#deps = deps;
    this.#frameClock = new FrameClock(deps.clock);
  }

  point(deployment: Deployment): void {
    this.#deployment = deployment;
    this.#pool = new Pool(deployment.url, { connections: 64, headersTimeout: 30_000, bodyTimeout: 30_000 });
  }

  describe(): RunResult['target'] {
    const address = this.#deployment?.url ?? '';
    return { kind: 'browser', address, protocol: '/ws/live', onThisMachine: false, version: null };
  }

  async check(): Promise<void> {
    const answer = await this.#token(0);
    if (answer.token !== null) return;
    const { code, why } = answer;
    if (Object.hasOwn(CODES, code)) throw new TargetFault(`${CODES[code]} (${why})`);
    const hint = answer.httpStatus === 0 ? sentenceOf(code, this.#deployment!.url) : why;
    throw new TargetFault(`a browser session was not let in: ${hint}`);
  }

  async call(planned: PlannedCall): Promise<MeasuredCall> {
    const session = new BrowserSession(planned, {
      ...this.#deps,
      deployment: this.#deployment!,
      frameClock: this.#frameClock,
      gapBufferMs: this.#plan.gapBufferMs,
      soundFolder: this.#plan.soundFolder,
      headers: this.#headersOf(planned.index),
      token: () => this.#token(planned.index),
    });
    this.#live.add(session);
    const call = await session.run();
    this.#live.delete(session);
    if (session.callUuid !== null) this.#callIds.set(planned.index, session.callUuid);
    return call;
  }

  callIdOf(index: number): string | null {
    const id = this.#callIds.get(index) ?? null;
    this.#callIds.delete(index);
    return id;
  }

  async hangUpAll(limitMs: number): Promise<void> {
    const limit = new Promise((done) => setTimeout(done, limitMs).unref());
    await Promise.race([Promise.all([...this.#live].map((session) => session.hangUp())), limit]);
  }

  async close(): Promise<void> {
    await this.hangUpAll(2_000);
    this.#frameClock.close();
    await this.#pool?.destroy();
  }

  #token(index: number): Promise<TokenAnswer> {
    return askForToken(this.#pool!, this.#deployment!, this.#headersOf(index));
  }

  /**
   * Each session's own address, as far as the deployment trusts this machine to name it (TRUSTED_PROXIES): visitors
   * have one each, and what one of them may open is limited.
   */
  #headersOf(index: number): Record<string, string> {
    const at = index + 1;
    return { 'x-forwarded-for': `10.${(at >> 16) & 0xff}.${(at >> 8) & 0xff}.${at & 0xff}` };
  }
}
