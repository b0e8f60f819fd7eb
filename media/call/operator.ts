/**
 * Somebody steers the call from outside: texts that the agent is to say, words in the caller's place, a word to the
 * agent alone, silence, a person in its place. Says the texts when nobody else speaks; the conversation asks it at each
 * tick.
 */
import { CONTROL_DONE, type ControlAction, type ControlOutcome, controlRefused } from '../contract/operator-control.ts';
import type { AgentLine } from './agent-line.ts';
import type { Floor } from './floor.ts';
import type { Hearing } from './hearing/hearing.ts';
import type { OperatorDesk } from './operator-desk.ts';
import type { OwedWords } from './owed-words.ts';
import type { CallReporter } from './reporter.ts';
import type { AgentSpeech } from './speaking/agent-speech.ts';
import type { Takeover } from './takeover/takeover.ts';

export interface OperatorDeps {
  desk: OperatorDesk;
  owed: OwedWords;
  /** False: the agent obeys nobody. */
  isSteerable: boolean;
  agentSpeech: AgentSpeech;
  floor: Floor;
  hearing: Hearing;
  line: AgentLine;
  reporter: CallReporter;
  takeover: Takeover;
  /** What the agent wanted to say while it was not to; false: nothing. */
  sayWaiting(): boolean;
}

const WITH_THE_AGENT: ReadonlySet<ControlAction['type']> = new Set(['say', 'inject', 'mute_agent', 'unmute_agent']);

export class Operator {
  readonly #deps: OperatorDeps;

  constructor(deps: OperatorDeps) {
    this.#deps = deps;
  }

  obey(action: ControlAction): ControlOutcome {
    const { desk, floor, isSteerable, line, reporter, takeover } = this.#deps;
    if (!isSteerable) return controlRefused('unsupported');
    // To the agent alone may be spoken; what it does is the person's business now.
    if (takeover.isOn && WITH_THE_AGENT.has(action.type)) return controlRefused('taken');
    switch (action.type) {
      case 'say':
        if (desk.muted) return controlRefused('muted');
        if (!desk.queue(action.text)) return controlRefused('queue_full');
        if (action.interrupt) floor.cutForOperator();
        this.sayQueued();
        return CONTROL_DONE;
      case 'inject':
        if (desk.muted) return controlRefused('muted');
        floor.cutForOperator();
        line.tell({ type: 'heard', atMs: reporter.nowMs, text: action.text, how: 'injected' });
        return CONTROL_DONE;
      case 'whisper':
        return this.#whisper(action.text);
      case 'mute_agent':
        this.mute();
        return CONTROL_DONE;
      case 'unmute_agent':
        this.#unmute();
        return CONTROL_DONE;
      case 'takeover':
        return takeover.take();
      case 'handback':
        return takeover.giveBack(action.note);
      case 'dtmf':
        return controlRefused('unsupported');
    }
  }

  mute(): void {
    const { desk, floor, line, reporter } = this.#deps;
    if (desk.muted) return;
    desk.muted = true;
    reporter.oweCheckpoint();
    floor.mute();
    line.tell({ type: 'muted', atMs: reporter.nowMs, isMuted: true });
  }

  /** When the agent is silent and nobody waits for an answer. */
  sayQueued(): void {
    const { desk, owed, agentSpeech, hearing, floor } = this.#deps;
    if (!desk.hasTexts || agentSpeech.active || desk.muted) return;
    if (hearing.turn !== null || floor.isTaken) return;
    const text = desk.nextText();
    if (text === null) return;
    owed.areOthers = true;
    agentSpeech.say({ speech: { text }, stepId: null, interruptible: true, anchor: null });
  }

  /** All texts are said: the agent hears what it is owed. */
  goOn(): void {
    const { owed, line, reporter } = this.#deps;
    const atMs = reporter.nowMs;
    const said = owed.takeAfterOthers();
    line.tell(said.type === 'said' ? { ...said, atMs } : { type: 'wait', atMs, why: 'operator' });
  }

  #whisper(text: string): ControlOutcome {
    const { line, reporter } = this.#deps;
    const isFollowed = line.instruct(text, reporter.nowMs);
    if (isFollowed === null) return controlRefused('unsupported');
    if (!isFollowed) return controlRefused('not_followed');
    reporter.oweCheckpoint();
    return CONTROL_DONE;
  }

  #unmute(): void {
    const { desk, floor, line, reporter, sayWaiting } = this.#deps;
    if (!desk.muted) return;
    desk.muted = false;
    reporter.oweCheckpoint();
    line.tell({ type: 'muted', atMs: reporter.nowMs, isMuted: false });
    if (floor.unmute() || sayWaiting()) return;
    line.tell({ type: 'wait', atMs: reporter.nowMs, why: 'unmuted' });
  }
}
