/**
 * The calls of this process: who may come in, which are alive, and what control is told about all of them (leases,
 * load). The one place where legs are made. A second stream of a call waits until the first, which it ends, is over:
 * control has given it a higher epoch. Composed in `media/main.ts`.
 */
import { randomUUID } from 'node:crypto';
import type { Logger } from 'pino';
import { usesLocalEngines } from '../contract/agent-definition.ts';
import type { CallCommand } from '../contract/call-command.ts';
import type { EndedReason } from '../contract/call-outcome.ts';
import type { Clock } from '../contract/clock.ts';
import type { RecordingFacts } from '../contract/conversation.ts';
import type { CallSetup, ToControl } from '../contract/link-messages.ts';
import type { WebSetup } from '../contract/live-session.ts';
import { controlRefused } from '../contract/operator-control.ts';
import type { CallGrants } from './call-grants.ts';
import { CallLife } from './call-life.ts';
import type { MediaCodecFactory } from './carriers/media-codec.ts';
import type { FrameClock } from './frame-clock.ts';
import { CarrierLeg } from './legs/carrier/carrier-leg.ts';
import type { CallLeg } from './legs/core/call-leg.ts';
import { LegTotals } from './legs/core/leg-totals.ts';
import { WebLeg } from './legs/web/web-leg.ts';
import type { MonitorDesk } from './monitor/monitor-desk.ts';
import type { PipelinePool } from './threads/pipeline-pool.ts';
import type { RecordedStream, RecorderHost } from './threads/recorder-host.ts';

export interface CallRegistryOptions {
  capacityCalls: number;
  clock: Clock;
  frameClock: FrameClock;
  pool: PipelinePool;
  recorder: RecorderHost;
  /** Absent in tests that have no connections. */
  grants?: Pick<CallGrants, 'begun' | 'over'>;
  /** Absent in tests in which nobody listens in. */
  monitors?: Pick<MonitorDesk, 'event' | 'callOver'>;
  log: Logger;
  toControl(message: ToControl): void;
}

export class CallRegistry {
  readonly #options: CallRegistryOptions;
  readonly #lives = new Map<string, CallLife>();
  /** Over, but their recordings are still being finished; a call's earlier streams may be among them. */
  readonly #recording = new Set<CallLife>();
  #isDraining = false;
  readonly #totals = new LegTotals();
  #whenOver: (() => void)[] = [];

  constructor(options: CallRegistryOptions) {
    this.#options = options;
  }

  get activeCalls(): number {
    return this.#lives.size;
  }

  get isDraining(): boolean {
    return this.#isDraining;
  }

  get capacityCalls(): number {
    return this.#options.capacityCalls;
  }

  /** Of all legs that this process has had, the running ones included. */
  legTotals(): LegTotals {
    const totals = this.#totals.copy();
    for (const { leg } of this.#lives.values()) totals.add(leg.counters);
    return totals;
  }

  hasRoom(): boolean {
    return !this.#isDraining && this.#lives.size < this.#options.capacityCalls;
  }

  carriedCalls(): { callUuid: string; epoch: number }[] {
    return [...this.#lives.values()].map(({ setup }) => ({ callUuid: setup.callUuid, epoch: setup.epoch }));
  }

  /** Those whose agent talks or listens with engines of this machine. */
  *talkingCalls(): Generator<string> {
    for (const { setup } of this.#lives.values()) if (usesLocalEngines(setup.agent)) yield setup.callUuid;
  }

  /**
   * Ends an older stream of the call, if there is one. False when it is not over within `limitMs`; its recording may
   * take longer.
   */
  async vacate(callUuid: string, limitMs: number): Promise<boolean> {
    const { clock } = this.#options;
    const untilMs = clock.nowMs() + limitMs;
    this.#lives.get(callUuid)?.stop();
    while (this.#lives.has(callUuid)) {
      const leftMs = untilMs - clock.nowMs();
      if (leftMs <= 0) return false;
      await new Promise<void>((resolve) => {
        const cancel = clock.after(leftMs, resolve);
        this.#whenOver.push(() => {
          cancel();
          resolve();
        });
      });
    }
    return true;
  }

  /** A carrier's stream was claimed and its call is vacant: it is ours from now on, whatever becomes of its socket. */
  carry(claimed: CallSetup, codecFactory: MediaCodecFactory): CarrierLeg {
    const { clock, frameClock } = this.#options;
    const setup = this.#withoutGrants(claimed);
    return this.#begin(setup, (listener) => new CarrierLeg({ setup, codecFactory, clock, frameClock, listener }));
  }

  /** Likewise a browser's session. */
  carryWeb(claimed: CallSetup & { web: WebSetup }): WebLeg {
    const { clock, frameClock } = this.#options;
    const setup = this.#withoutGrants(claimed);
    const requestId = randomUUID();
    return this.#begin(setup, (listener) => new WebLeg({ setup, clock, frameClock, listener, requestId }));
  }

  /** Before anything else sees it: credentials go to provider threads alone. */
  #withoutGrants<Setup extends CallSetup>(setup: Setup): Omit<Setup, 'grants'> {
    const { grants: _, ...rest } = setup;
    return this.#options.grants?.begun(setup) ?? rest;
  }

  #begin<Leg extends CallLeg>(setup: CallSetup, make: (listener: CallLife) => Leg): Leg {
    const { clock, pool, recorder, log, monitors, toControl } = this.#options;
    const over = (life: CallLife): void => this.#over(life);
    const listened = monitors === undefined ? {} : { monitors };
    const life = new CallLife({ setup, clock, pool, recorder, log, ...listened, toControl, over });
    const leg = make(life);
    life.joins(leg);
    this.#lives.set(setup.callUuid, life);
    return leg;
  }

  find(callUuid: string): CallLife | undefined {
    return this.#lives.get(callUuid);
  }

  stop(callUuid: string, reason: EndedReason | null = null): void {
    this.#lives.get(callUuid)?.stop(reason);
  }

  /** Another process has the call. */
  superseded(callUuid: string): void {
    this.#lives.get(callUuid)?.superseded();
  }

  /** What control asks of a call. */
  command(callUuid: string, command: CallCommand): void {
    const life = this.#lives.get(callUuid);
    if (life !== undefined) life.command(command);
    else if (command.type === 'control') {
      const { controlId } = command;
      this.#options.toControl({ type: 'controlled', controlId, outcome: controlRefused('not_here') });
    }
  }

  /** Another run of control: what the one before was asked and has not answered is asked of it. */
  controlRestarted(): void {
    for (const life of this.#lives.values()) life.controlRestarted();
  }

  /**
   * Of a stream that an earlier run of this process carried, control is told just the same: the call's row knows it.
   */
  recorded({ callUuid, epoch }: RecordedStream, recording: RecordingFacts | null, error: string | null): void {
    const isIt = ({ setup }: CallLife): boolean => setup.callUuid === callUuid && setup.epoch === epoch;
    const life = [...this.#recording].find(isIt) ?? [...this.#lives.values()].find(isIt);
    if (life === undefined) this.#options.toControl({ type: 'recording', callUuid, epoch, recording, error });
    else {
      this.#recording.delete(life);
      life.recorded(recording, error);
    }
    this.#tell();
  }

  /** The pipeline has rung: look at every call now. */
  serviceUrgent(nowMs: number): void {
    for (const life of this.#lives.values()) life.leg.serviceIfUrgent(nowMs);
  }

  /** No new calls. Resolves when the last one is over and its recording is finished. */
  async drain(): Promise<void> {
    this.#isDraining = true;
    while (this.#lives.size > 0 || this.#recording.size > 0) {
      await new Promise<void>((resolve) => this.#whenOver.push(resolve));
    }
  }

  /** Ends what is left, or leaves it to another process where that can be. */
  stopAll(): void {
    for (const life of [...this.#lives.values()]) life.handOver();
  }

  #over(life: CallLife): void {
    const { callUuid } = life.setup;
    this.#totals.add(life.leg.counters);
    this.#totals.ended(life.endedBy ?? 'failed');
    if (this.#lives.get(callUuid) === life) {
      this.#lives.delete(callUuid);
      this.#options.grants?.over(callUuid);
    }
    if (life.isRecording) this.#recording.add(life);
    this.#tell();
  }

  #tell(): void {
    const waiting = this.#whenOver;
    this.#whenOver = [];
    for (const tell of waiting) tell();
  }
}
