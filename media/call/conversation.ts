/**
 * The conversation of one call, for any kind of agent: joins hearing, the floor, the voice, tools, operators and the
 * agent itself. The call session feeds it ticks and commands, and its hearing frames. It decides nothing that the parts
 * or the agent decide.
 *
 *   hearing ──► floor ──► caller's input ──► agent ──► say · use a tool · listen · end
 */
import { type AgentAction, DEAF_ENDS_WITHIN_MS } from '../contract/agent.ts';
import type { CallCommand } from '../contract/call-command.ts';
import type { EndedReason } from '../contract/call-outcome.ts';
import { readCheckpoint } from '../contract/checkpoint.ts';
import type { CallSetup } from '../contract/link-messages.ts';
import { type ControlOutcome, controlRefused } from '../contract/operator-control.ts';
import { type ConversationDeps, createParts, type Parts, type PartsListener } from './conversation-parts.ts';
import type { FrameIntake } from './hearing/frame-intake.ts';
import type { Hearing } from './hearing/hearing.ts';
import { isSpeech, type Meaning } from './hearing/meaning.ts';
import type { SaidBefore } from './owed-words.ts';

/** An agent that has not ended the call so long after its longest time never will. */
const LAST_WORDS_MS = 8_000;

export class Conversation implements PartsListener {
  readonly #deps: ConversationDeps;
  readonly #setup: CallSetup;
  readonly #latestEndMs: number;
  readonly #parts: Parts;
  /** One object for all ticks. */
  readonly #tickEvent = { type: 'tick' as const, atMs: 0 };
  #ended = false;
  /** The words of a pause that the agent was told, and not what became of it. */
  #pauseTold: string | null = null;
  /** The recogniser is lost, and the agent says goodbye. */
  #deaf: { untilMs: number; error: string } | null = null;

  constructor(deps: ConversationDeps, setup: CallSetup) {
    this.#deps = deps;
    this.#setup = setup;
    const { maxDurationSeconds = Number.POSITIVE_INFINITY } = setup.agent;
    const maxDurationMs = Math.min(setup.maxDurationMs, maxDurationSeconds * 1000);
    this.#latestEndMs = maxDurationMs + LAST_WORDS_MS;
    this.#parts = createParts(deps, setup, maxDurationMs, this);
  }

  /** What comes up the line. */
  get hearing(): Hearing {
    return this.#parts.hearing;
  }

  /** The agent has ended the call, or could not go on: nothing is said or heard any more. */
  get ended(): boolean {
    return this.#ended;
  }

  get stepId(): string | null {
    return this.#parts.line.agent.stepId;
  }

  /** `intake`: null where nothing is heard. */
  start(intake: FrameIntake | null): void {
    const { hearing, floor, line, operator, takeover } = this.#parts;
    if (intake !== null) hearing.start(intake);
    floor.start(hearing);
    const checkpoint = this.#setup.checkpoint === null ? null : readCheckpoint(this.#setup.checkpoint);
    const state = checkpoint?.agent ?? null;
    const fault = state === null ? null : line.faultOf(state);
    if (fault !== null) {
      this.finish('internal_error', null, fault);
      return;
    }
    const isResumed = checkpoint !== null;
    line.tell({
      type: 'start',
      atMs: this.#deps.reporter.nowMs,
      isResumed,
      state: state?.state ?? null,
      variables: checkpoint?.variables ?? {},
      ...(checkpoint?.cut === undefined ? {} : { cut: checkpoint.cut }),
    });
    // Before a frame of it was made.
    if (checkpoint?.takenOver !== undefined) takeover.resume(checkpoint.takenOver.said);
    else if (checkpoint?.muted === true) operator.mute();
  }

  /** After the uplink was drained: deadlines, playback, what waits for it. */
  tick(): void {
    if (this.#ended) return;
    const { line, hearing, agentSpeech, floor, input, tools, actions } = this.#parts;
    const { operator, desk, owed, takeover, encouragement } = this.#parts;
    const { clock, reporter } = this.#deps;
    const nowMs = clock.nowMs();
    line.carryOut();
    hearing.tick(nowMs);
    agentSpeech.pump();
    if (floor.isHeld) return;
    floor.settle();
    takeover.tick(nowMs);
    input.takeKeys(nowMs);
    if (this.#ended) return;
    tools.uses.tick();
    if (!actions.sayWaiting() && desk.hasTexts) operator.sayQueued();
    this.#encourage();
    if (!owed.areOthers && !desk.muted && !encouragement.speaks) {
      if (!agentSpeech.active && !floor.isTaken) tools.tellResult(nowMs, hearing.turn !== null);
      this.#tickEvent.atMs = reporter.nowMs;
      line.tell(this.#tickEvent);
    }
    // A person needs no recogniser.
    const deaf = takeover.isOn ? null : this.#deaf;
    if (deaf !== null && reporter.nowMs >= deaf.untilMs) this.finish('stt_error', null, deaf.error);
    if (reporter.nowMs >= this.#latestEndMs) this.finish('max_duration_reached', null, null);
    this.checkpoint();
  }

  /** What somebody asks of the call; the answer is for `control` alone. */
  command(command: CallCommand): ControlOutcome | null {
    const { operator, input, tools, agentSpeech, floor, line, takeover } = this.#parts;
    if (this.#ended) return command.type === 'control' ? controlRefused('ending') : null;
    switch (command.type) {
      case 'control':
        return operator.obey(command.action);
      case 'key':
        input.pressed(command.key, this.#deps.clock.nowMs());
        break;
      case 'tool.answer':
        tools.uses.answered(command.toolCallId, command.answer);
        break;
      case 'text':
        input.typed(command.text, command.interrupt);
        break;
      case 'interrupt':
        if (agentSpeech.active && agentSpeech.interruptible) floor.interrupts();
        break;
      case 'person.sound':
        takeover.sound(command.samples);
        break;
      case 'person.gone':
        takeover.gone();
        break;
      case 'hold':
        if (command.held === floor.isHeld) break;
        line.tell({ type: 'line', atMs: this.#deps.reporter.nowMs, isHeld: command.held });
        floor.hold(command.held);
        break;
    }
    return null;
  }

  /** The leg is over: closes what is open with what was heard of it. */
  close(): void {
    const { agentSpeech, hearing, words } = this.#parts;
    agentSpeech.silence(false);
    this.#writeWaiting();
    this.#pauseTold = null;
    const turn = hearing.dropTurn();
    if (turn !== null) {
      const sense = words.sense(turn);
      const heard = sense === 'acknowledge' && turn.duringSpeech ? 'backchannel' : 'speech';
      if (isSpeech(turn, sense)) words.record(turn, sense === 'rejected' ? 'unclear' : heard);
    }
    this.#over();
  }

  // ── What is heard ─────────────────────────────────────────────────────────────────────────────────────

  callerSpeaks(speaking: boolean, streamMs: number): void {
    const { floor, line } = this.#parts;
    if (speaking) floor.endEncouragement();
    const { reporter } = this.#deps;
    const phase = speaking ? 'start' : 'end';
    const turnId = reporter.userTurnId;
    reporter.conversationEvent({ type: 'speech', who: 'user', phase, atMs: reporter.at(streamMs), turnId });
    line.tell({ type: 'caller', atMs: reporter.nowMs, speaking });
  }

  callerPaused(text: string): void {
    const { line, agentSpeech, desk } = this.#parts;
    // Words into an agent that speaks may be no turn at all, and a muted one is told none.
    if (agentSpeech.active || desk.muted || text === this.#pauseTold) return;
    this.callerWentOn();
    this.#pauseTold = text;
    line.tell({ type: 'pause', atMs: this.#deps.reporter.nowMs, text });
  }

  callerWentOn(): void {
    if (this.#pauseTold === null) return;
    this.#pauseTold = null;
    this.#parts.line.tell({ type: 'went_on', atMs: this.#deps.reporter.nowMs });
  }

  mean(meaning: Meaning): void {
    const isPauseTold = this.#pauseTold !== null;
    this.#pauseTold = null;
    if (this.#parts.input.mean(meaning) || !isPauseTold) return;
    this.#parts.line.tell({ type: 'went_on', atMs: this.#deps.reporter.nowMs });
  }

  unmeant({ turn }: Meaning): void {
    this.#parts.words.record(turn, 'unclear');
  }

  recogniserLost(error: Error): void {
    if (this.#deaf !== null) return;
    const { reporter, kind } = this.#deps;
    if (kind.traits.saysGoodbyeDeaf !== true) {
      this.finish('stt_error', null, error.message);
      return;
    }
    this.#deaf = { untilMs: reporter.nowMs + DEAF_ENDS_WITHIN_MS, error: error.message };
    this.#parts.line.tell({ type: 'deaf', atMs: reporter.nowMs, error: error.message });
  }

  // ── What is played ────────────────────────────────────────────────────────────────────────────────────

  utteranceSaid(heardText: string | null): void {
    const { floor, encouragement, hearing, desk, owed, actions, operator, input, line } = this.#parts;
    if (floor.goOnAfterBridge()) return;
    if (encouragement.speaks) {
      encouragement.over(hearing.nowMs);
      line.tell({ type: 'filled', atMs: this.#deps.reporter.nowMs });
      return;
    }
    hearing.endInterruption();
    hearing.bePatient();
    owed.said(heardText);
    if (!actions.sayWaiting() && !desk.hasTexts) operator.goOn();
    if (!this.#ended && input.takeTyped()) return;
    hearing.agentFinished();
  }

  voiceLost(error: Error): void {
    this.finish('tts_error', null, error.message);
  }

  cut(heardText: string, before: SaidBefore): void {
    const { actions, line } = this.#parts;
    actions.drop();
    line.tell({ type: 'cut', atMs: this.#deps.reporter.nowMs, heardText, ...before });
  }

  cutWaiting(): void {
    const { actions, line, owed } = this.#parts;
    if (!actions.drop()) return;
    line.tell({ type: 'cut', atMs: this.#deps.reporter.nowMs, heardText: '', ...owed.cut() });
  }

  /** Into a pause that may be long: a word that leaves the caller's turn open. */
  #encourage(): void {
    const { hearing, agentSpeech, desk, tools, encouragement, line } = this.#parts;
    const { pause } = hearing;
    if (pause === null || agentSpeech.active || desk.muted || tools.uses.waiting) return;
    const text = encouragement.wordFor(pause, hearing.nowMs, () => line.wordForWait());
    if (text === null) return;
    agentSpeech.say({ speech: { text, isFixed: true }, stepId: this.stepId, interruptible: true, anchor: null });
  }

  // ── The agent ─────────────────────────────────────────────────────────────────────────────────────────

  acted(action: AgentAction): void {
    if (!this.#ended) this.#parts.actions.carryOut(action);
  }

  agentFailed(error: unknown): void {
    if (this.#ended) return;
    this.#deps.logger.error({ err: error }, 'the agent failed; its call ends');
    this.finish('internal_error', null, error instanceof Error ? error.message : String(error));
  }

  // ── Its end ───────────────────────────────────────────────────────────────────────────────────────────

  checkpoint(): void {
    const { tools, line, desk, takeover } = this.#parts;
    const { reporter } = this.#deps;
    if (!reporter.checkpointDue) return;
    const uses = tools.uses.snapshot();
    const { kept: takenOver } = takeover;
    try {
      reporter.checkpoint({
        ...line.kept(),
        ...(uses.begun > 0 ? { tools: uses } : {}),
        ...(desk.muted ? { muted: true as const } : {}),
        ...(takenOver === null ? {} : { takenOver }),
      });
    } catch (error) {
      this.agentFailed(error);
    }
  }

  finish(reason: EndedReason, disposition: string | null, error: string | null): void {
    const { agentSpeech, hearing } = this.#parts;
    if (this.#ended) return;
    agentSpeech.silence(false);
    this.#writeWaiting();
    this.#pauseTold = null;
    hearing.dropTurn();
    this.#over();
    this.#deps.end(reason, disposition, error);
  }

  /** Words that the agent will not be told any more stand in the transcript all the same. */
  #writeWaiting(): void {
    const { floor, words, input, takeover } = this.#parts;
    takeover.close();
    const waiting = floor.close();
    if (waiting !== null && isSpeech(waiting.turn, waiting.sense)) words.record(waiting.turn, 'speech');
    input.writeTyped();
  }

  #over(): void {
    const { tools, models, actions, hearing, line } = this.#parts;
    const wasEnded = this.#ended;
    tools.uses.cancel();
    models.close();
    this.#ended = true;
    actions.drop();
    hearing.close();
    this.checkpoint();
    if (!wasEnded) line.close(this.#deps.reporter.nowMs);
  }
}
