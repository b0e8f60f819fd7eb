/**
 * A Parley as target, by address and key: this process is its carrier, places calls over its API and answers them as
 * the phones that it dials. Opened in a far-end process; told where the deployment is once that is known.
 */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { EMULATED_CARRIER } from '../../../../src/carriers/emulated-account.ts';
import type { GuestCall, RunningEmulator } from '../../../emulators/emulator-command.ts';
import type { EmulatorEvent } from '../../../emulators/emulator-event.ts';
import { EMULATORS } from '../../../emulators/emulators.ts';
import type { Persona } from '../../../emulators/persona.ts';
import type { MeasuredCall } from '../../contract/measured-call.ts';
import type { PlannedCall } from '../../contract/planned-call.ts';
import type { RunResult } from '../../contract/run-result.ts';
import { TargetFault } from '../../contract/target.ts';
import { notBegun } from '../../run/not-begun.ts';
import type { DrivenTarget, TargetDeps } from '../driven-target.ts';
import type { Deployment, ParleyPlan } from '../target-plan.ts';
import { checkDeployment } from './check-deployment.ts';
import { PhoneCall } from './phone-call.ts';
import { PhoneNumbers } from './phone-numbers.ts';
import { type Placed, Placing } from './placing.ts';

/** A call that was taken and is not dialled within that is none; a line may let calls wait for their turn. */
const DIAL_LIMIT_MS = 60_000;
const POLL_MS = 20;
/** Of the calls that go on, the sound of so many is kept: 16 kB a second each. */
const MOST_RECORDED = 200;

interface LivePhone {
  number: string;
  phone: PhoneCall;
  guest: GuestCall | null;
  over(guest: GuestCall | null): void;
}

export async function openParleyTarget(plan: ParleyPlan, deps: TargetDeps): Promise<ParleyTarget> {
  const target = new ParleyTarget(plan, deps);
  await target.open();
  return target;
}

class ParleyTarget implements DrivenTarget {
  readonly #plan: ParleyPlan;
  readonly #deps: TargetDeps;
  readonly #numbers: PhoneNumbers;
  /** By number, and by the carrier's id once it was dialled. */
  readonly #byNumber = new Map<string, LivePhone>();
  readonly #byCarrierId = new Map<string, LivePhone>();
  /** The deployment's ids of calls that were measured just now. */
  readonly #callIds = new Map<number, string>();
  #carrier: RunningEmulator | null = null;
  #deployment: Deployment | null = null;
  #placing: Placing | null = null;
  #isHangingUp = false;

  constructor(plan: ParleyPlan, deps: TargetDeps) {
    this.#plan = plan;
    this.#deps = deps;
    this.#numbers = new PhoneNumbers(plan.numbers, plan.process, plan.of);
  }

  get carrierBase(): string | null {
    return this.#carrier?.apiBase ?? null;
  }

  async open(): Promise<void> {
    const { carrierHost: host, carrierPort: port, authId, authToken } = this.#plan;
    const { options, start } = EMULATORS[EMULATED_CARRIER];
    const own = Object.fromEntries(Object.entries(options).map(([name, { default: value }]) => [name, value]));
    try {
      this.#carrier = await start(
        { ...own, 'auth-id': authId, 'auth-token': authToken },
        {
          personas: [],
          host,
          port,
          keepAudio: false,
          onEvent: (event) => this.#heard(event),
          guests: {
            personaOf: (to, guest) => this.#dialled(to, guest),
            calleeOf: (_persona, guest) => this.#byCarrierId.get(guest.callUuid)!.phone,
            over: (_persona, guest) => this.#over(guest),
          },
        },
      );
    } catch (error) {
      if (Reflect.get(error as object, 'code') !== 'EADDRINUSE') throw error;
      throw new TargetFault(`--carrier-listen ${host}:${port}: that port is taken; choose another, or end who has it`);
    }
  }

  point(deployment: Deployment): void {
    this.#deployment = deployment;
    void this.#placing?.close();
    this.#placing = new Placing(deployment);
  }

  describe(): RunResult['target'] {
    return {
      kind: 'parley',
      address: this.#deployment?.url ?? '',
      protocol: EMULATED_CARRIER,
      onThisMachine: false,
      version: null,
    };
  }

  async check(): Promise<void> {
    await checkDeployment({
      deployment: this.#deployment!,
      carrierBase: this.carrierBase ?? '',
      authId: this.#plan.authId,
      callOnce: (planned, dialLimitMs) => this.#callOnce(planned, dialLimitMs),
    });
  }

  callIdOf(index: number): string | null {
    const id = this.#callIds.get(index) ?? null;
    this.#callIds.delete(index);
    return id;
  }

  async call(planned: PlannedCall): Promise<MeasuredCall> {
    return (await this.#callOnce(planned, DIAL_LIMIT_MS)).call;
  }

  async hangUpAll(limitMs: number): Promise<void> {
    this.#isHangingUp = true;
    const untilMs = this.#deps.clock.nowMs() + limitMs;
    while (this.#byNumber.size > 0 && this.#deps.clock.nowMs() < untilMs) {
      // One that is being placed rings in a moment: so again, until none is left.
      for (const { phone, guest } of this.#byNumber.values()) {
        phone.cut();
        guest?.hangUp();
      }
      await new Promise((done) => setTimeout(done, POLL_MS));
    }
    for (const live of this.#byNumber.values()) live.over(live.guest);
  }

  async close(): Promise<void> {
    await this.#placing?.close();
    await this.#carrier?.close();
  }

  /** With what the carrier saw of it, for the check; `guest` null: the carrier was never asked to dial. */
  async #callOnce(
    planned: PlannedCall,
    dialLimitMs: number,
  ): Promise<{ call: MeasuredCall; placed: Placed | null; guest: GuestCall | null }> {
    const { clock } = this.#deps;
    const number = this.#numbers.next((taken) => this.#byNumber.has(taken));
    if (number === null || this.#isHangingUp) {
      const why = number === null ? `all numbers of --to ${this.#plan.numbers} are on the line` : 'the run was stopped';
      const fate = number === null ? 'held_back' : 'cut';
      return { call: notBegun(planned, fate, null, why, clock.nowMs()), placed: null, guest: null };
    }
    const phone = new PhoneCall(planned, number, {
      clock,
      clips: this.#deps.clips,
      gapBufferMs: this.#plan.gapBufferMs,
      expectSignal: this.#plan.expectSignal,
      keepsSound: this.#plan.soundFolder !== null && this.#byNumber.size < MOST_RECORDED,
      frameSent: this.#deps.frameSent,
    });
    let over: LivePhone['over'] = () => {};
    const isOver = new Promise<GuestCall | null>((done) => {
      over = done;
    });
    const live: LivePhone = { number, phone, guest: null, over };
    this.#byNumber.set(number, live);
    const placed = await this.#placing!.place(number);
    const placementMs = clock.nowMs() - planned.atMs;
    if (placed.callUuid !== null) this.#callIds.set(planned.index, placed.callUuid);
    if (placed.fate !== null && !phone.hasArrived) over(null);
    const giveUp = clock.after(dialLimitMs, () => !phone.hasArrived && over(null));
    // A phone that rings although the placement failed is let ring to its planned end: somebody was dialled.
    const guest = await isOver;
    giveUp();
    this.#byNumber.delete(number);
    if (guest === null) {
      const [fate, code, why] = this.#undialled(placed);
      return { call: { ...notBegun(planned, fate, code, why, phone.begunAtMs), placementMs }, placed, guest };
    }
    const call = phone.measured(placed, placementMs, guest.truth);
    call.recordingPath = await this.#writeSound(phone);
    return { call, placed, guest };
  }

  /** Null: none was kept, or a full disk took it: that costs the sound, not the run. */
  async #writeSound(phone: PhoneCall): Promise<string | null> {
    const { soundFolder } = this.#plan;
    const wav = soundFolder === null ? null : phone.wav();
    if (soundFolder === null || wav === null) return null;
    const path = join(soundFolder, `call-${phone.planned.index}.wav`);
    return writeFile(path, wav).then(
      () => path,
      () => null,
    );
  }

  #undialled({ fate, code, why }: Placed): [MeasuredCall['fate'], string | null, string | null] {
    if (fate !== null) return [fate, code, why];
    if (this.#isHangingUp) return ['cut', null, 'the run was stopped under it'];
    return ['failed', 'not_dialled', `it was taken and not dialled within ${DIAL_LIMIT_MS / 1000} s`];
  }

  #heard(event: EmulatorEvent): void {
    this.#byCarrierId.get(event.callUuid)?.phone.heard(event);
  }

  #dialled(to: string, guest: GuestCall): Persona | null {
    const live = this.#byNumber.get(to);
    if (live === undefined || live.guest !== null) return null;
    live.guest = guest;
    this.#byCarrierId.set(guest.callUuid, live);
    return live.phone.persona;
  }

  #over(guest: GuestCall): void {
    const live = this.#byCarrierId.get(guest.callUuid);
    this.#byCarrierId.delete(guest.callUuid);
    live?.over(guest);
  }
}
