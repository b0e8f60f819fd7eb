/**
 * The far-end processes as one target: calls are dealt out in turn, and what the processes say is put together. Made by
 * `main.ts`, which starts them before the target, driven by the dispatcher.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { builtEntry } from '../../../src/config/built-entry.ts';
import { endChild } from '../../harness/end-child.ts';
import type { MeasuredCall } from '../contract/measured-call.ts';
import type { PlannedCall } from '../contract/planned-call.ts';
import { TargetFault } from '../contract/target.ts';
import type { Deployment, TargetPlan } from '../targets/target-plan.ts';
import type { FarEndOrder, FromFarEnd, OwnSecond } from './far-end-orders.ts';
import { notBegun } from './not-begun.ts';

const STOP_LIMIT_MS = 3_000;

type Saying<Said extends FromFarEnd['said']> = Extract<FromFarEnd, { said: Said }>;

export interface PoolListener {
  /** The tool's own figures, of one process. */
  second(process: number, second: OwnSecond): void;
  /** The target's own id of a call, when it is over. */
  callId(call: MeasuredCall, callId: string | null): void;
}

export class FarEndPool {
  readonly #children: FarEndChild[];

  private constructor(children: FarEndChild[]) {
    this.#children = children;
  }

  /** Rejects with a `TargetFault` where a process cannot open its target, a port that is taken for example. */
  static async open(plans: readonly TargetPlan[], clockBeganAtMs: number, listener: PoolListener): Promise<FarEndPool> {
    const children = plans.map((_plan, at) => new FarEndChild(at, listener));
    const pool = new FarEndPool(children);
    try {
      await Promise.all(children.map((child, at) => child.open(plans[at]!, clockBeganAtMs)));
      return pool;
    } catch (error) {
      await pool.close();
      throw error;
    }
  }

  get pids(): number[] {
    return this.#children.map(({ pid }) => pid);
  }

  /** Of each process; null where its target needs none. */
  get carrierBases(): (string | null)[] {
    return this.#children.map(({ carrierBase }) => carrierBase);
  }

  async point(deployment: Deployment): Promise<void> {
    await Promise.all(this.#children.map((child) => child.ask({ order: 'point', deployment }, 'pointed')));
  }

  /** Rejects with a `TargetFault` that says what to set. */
  async check(): Promise<void> {
    for (const child of this.#children) {
      const { fault } = await child.ask({ order: 'check' }, 'checked');
      if (fault !== null) throw new TargetFault(fault);
    }
  }

  /** Instants count from then. */
  async begin(clockBeganAtMs: number): Promise<void> {
    await Promise.all(this.#children.map((child) => child.ask({ order: 'begin', clockBeganAtMs }, 'begun')));
  }

  call(planned: PlannedCall): Promise<MeasuredCall> {
    return this.#children[planned.index % this.#children.length]!.call(planned);
  }

  async hangUpAll(limitMs: number): Promise<void> {
    await Promise.all(
      this.#children.map((child) => child.ask({ order: 'hang-up', limitMs }, 'hung-up').catch(() => undefined)),
    );
  }

  async close(): Promise<void> {
    await Promise.all(this.#children.map((child) => child.close()));
  }
}

class FarEndChild {
  readonly #child: ChildProcess;
  readonly #at: number;
  readonly #listener: PoolListener;
  readonly #ready: Promise<void>;
  readonly #calls = new Map<number, { planned: PlannedCall; done(call: MeasuredCall): void }>();
  readonly #waiting = new Map<FromFarEnd['said'], { done(message: FromFarEnd): void; failed(error: Error): void }>();
  carrierBase: string | null = null;
  #hasEnded = false;

  constructor(at: number, listener: PoolListener) {
    this.#at = at;
    this.#listener = listener;
    this.#child = fork(builtEntry('bench/load/run/far-end-process.js'), [], {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
    this.#ready = this.#wait('ready').then(() => {});
    this.#ready.catch(() => {});
    this.#child.on('message', (message: FromFarEnd) => this.#heard(message));
    this.#child.once('exit', (code, signal) => this.#ended(`a far-end process of the tool ended (${signal ?? code})`));
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  async open(plan: TargetPlan, clockBeganAtMs: number): Promise<void> {
    await this.#ready;
    const { carrierBase, fault } = await this.ask({ order: 'open', plan, clockBeganAtMs }, 'opened');
    if (fault !== null) throw new TargetFault(fault);
    this.carrierBase = carrierBase;
  }

  ask<Said extends FromFarEnd['said']>(order: FarEndOrder, answer: Said): Promise<Saying<Said>> {
    const answered = this.#wait(answer);
    this.#send(order);
    return answered;
  }

  call(planned: PlannedCall): Promise<MeasuredCall> {
    return new Promise((done) => {
      if (this.#hasEnded) return done(notBegun(planned, 'failed', 'tool', 'the far-end process of the tool has ended'));
      this.#calls.set(planned.index, { planned, done });
      this.#send({ order: 'call', planned });
    });
  }

  async close(): Promise<void> {
    this.#child.removeAllListeners('exit');
    if (this.#child.connected) this.#child.send({ order: 'close' } satisfies FarEndOrder);
    const closed = new Promise<void>((done) => this.#child.once('exit', () => done()));
    await Promise.race([closed, new Promise<void>((done) => setTimeout(done, STOP_LIMIT_MS).unref())]);
    if (this.#child.connected) this.#child.disconnect();
    // It takes no SIGTERM: Ctrl-C reaches it too.
    await endChild(this.#child, STOP_LIMIT_MS);
  }

  #wait<Said extends FromFarEnd['said']>(said: Said): Promise<Saying<Said>> {
    return new Promise((done, failed) => {
      this.#waiting.set(said, { done: done as (message: FromFarEnd) => void, failed });
    });
  }

  #send(order: FarEndOrder): void {
    if (this.#child.connected) this.#child.send(order);
  }

  #heard(message: FromFarEnd): void {
    if (message.said === 'second') this.#listener.second(this.#at, message);
    else if (message.said === 'measured') this.#measured(message);
    else {
      const waiting = this.#waiting.get(message.said);
      this.#waiting.delete(message.said);
      waiting?.done(message);
    }
  }

  #measured({ call, callId }: Saying<'measured'>): void {
    const waiting = this.#calls.get(call.index);
    this.#calls.delete(call.index);
    this.#listener.callId(call, callId);
    waiting?.done(call);
  }

  #ended(why: string): void {
    this.#hasEnded = true;
    for (const { failed } of this.#waiting.values()) failed(new Error(why));
    this.#waiting.clear();
    for (const { planned, done } of this.#calls.values()) done(notBegun(planned, 'failed', 'tool', why));
    this.#calls.clear();
  }
}
