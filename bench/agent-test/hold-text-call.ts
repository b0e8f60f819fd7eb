/**
 * Holds one call of a scenario as text: the opening, each turn of the caller and what the agent makes of it, the end.
 * What never ends is ended, and says so. Called by `run-scenario.ts`.
 */
import { agentKindOf } from '../../media/threads/agent-kinds.ts';
import { VirtualClock } from '../harness/virtual-clock.ts';
import type { HeldCall } from './held-call.ts';
import type { Scenario, ScenarioTurn } from './scenario-schema.ts';
import type { Subject } from './subject.ts';
import { TextCall } from './text-call.ts';
import { ToolsOfTest } from './tools-of-test.ts';

/** So long idle, and it is the caller's turn: long after an answer would have begun, long before silence is minded. */
const SETTLED_AFTER_MS = 1_500;
/** Wednesday noon: what an agent knows of the time is the same each time. */
const EPOCH_MS = Date.UTC(2026, 0, 7, 12);

class OutOfTime extends Error {}

export async function holdTextCall(subject: Subject, scenario: Scenario): Promise<HeldCall> {
  const clock = new VirtualClock(EPOCH_MS);
  const tools = new ToolsOfTest(subject, scenario, clock);
  const models = subject.models.openFor(subject.definition, clock, () => {
    const { held, exchange } = call;
    const where = exchange === 0 ? 'before the caller spoke' : `in the caller's turn ${exchange}`;
    const note = `${where} no rule of ${rulesOf(subject)} fitted, and the emulated model answered by its "otherwise"`;
    if (!held.warnings.includes(note)) held.warnings.push(note);
  });
  const limitMs = scenario.timeLimitSeconds * 1_000;
  const beganAtMs = performance.now();
  const call: TextCall = new TextCall({
    kind: agentKindOf(subject.definition),
    definition: subject.definition,
    placeholders: subject.placeholdersFor(scenario),
    models,
    clock,
    useTool: (name, args) => tools.use(name, args),
    waitsForOthers: () => tools.waitsForOthers || subject.models.waitsForOthers,
    checkTime() {
      if (clock.nowMs() < limitMs && performance.now() - beganAtMs < limitMs) return;
      throw new OutOfTime(
        `it did not end within ${scenario.timeLimitSeconds} s and was ended: ${call.doing} (timeLimitSeconds allows more)`,
      );
    },
  });
  const until = async (done: () => boolean): Promise<void> => {
    while (!call.isOver && !done()) await call.step();
  };
  const settled = async (): Promise<void> => {
    let sinceMs = clock.nowMs();
    await until(() => {
      if (!call.isIdle) sinceMs = clock.nowMs();
      return clock.nowMs() - sinceMs >= SETTLED_AFTER_MS;
    });
    if (!call.isOver) call.noteState();
  };
  /** Until the caller talks into the agent's words, or it is their turn. */
  const yielded = async (next: ScenarioTurn | undefined): Promise<void> => {
    const { interruptsAfterMs } = next ?? {};
    if (interruptsAfterMs === undefined) return settled();
    let idleSinceMs = clock.nowMs();
    await until(() => {
      if (!call.isIdle) idleSinceMs = clock.nowMs();
      return (
        (call.mouth.spokenForMs(clock.nowMs()) ?? -1) >= interruptsAfterMs ||
        clock.nowMs() - idleSinceMs >= SETTLED_AFTER_MS
      );
    });
    if (!call.isOver) call.noteState();
  };

  let fault: string | null = null;
  try {
    call.start();
    await yielded(scenario.turns[0]);
    for (const [index, turn] of scenario.turns.entries()) {
      if (call.isOver) {
        fault = `the call was over (${call.held.end?.reason}) before the caller's turn ${index + 1}`;
        break;
      }
      call.exchange = index + 1;
      await perform(call, turn, clock, until);
      await yielded(scenario.turns[index + 1]);
    }
    if (scenario.expect?.endedReason !== undefined || scenario.expect?.disposition !== undefined)
      await until(() => false);
    else if (!call.isOver) call.hangUp();
  } catch (error) {
    fault = error instanceof OutOfTime ? error.message : `the call broke: ${(error as Error).stack}`;
  }
  tools.close();
  return call.close(fault);
}

function rulesOf({ file: { model } }: Subject): string {
  return model !== undefined && 'emulated' in model && typeof model.emulated === 'string' ? model.emulated : 'the file';
}

async function perform(
  call: TextCall,
  turn: ScenarioTurn,
  clock: VirtualClock,
  until: (done: () => boolean) => Promise<void>,
): Promise<void> {
  if (turn.caller !== undefined) await call.says(turn.caller);
  else if (turn.keys !== undefined) await call.presses(turn.keys);
  else if (turn.hangsUp === true) call.hangUp();
  else {
    const untilMs = clock.nowMs() + turn.silentSeconds! * 1_000;
    await until(() => clock.nowMs() >= untilMs);
  }
}
