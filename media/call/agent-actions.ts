/**
 * Carries out what the agent wants: it says, uses tools, listens anew, falls silent, ends. What it wants to say while
 * it may not yet speak waits here. The line to the agent hands the actions on, in order; the conversation asks at each
 * tick whether something can be said.
 */
import type { AgentAction } from '../contract/agent.ts';
import type { EndedReason } from '../contract/call-outcome.ts';
import type { CallerInput } from './caller-input.ts';
import type { Floor } from './floor.ts';
import type { Hearing } from './hearing/hearing.ts';
import type { AgentModels } from './models/agent-models.ts';
import type { OperatorDesk } from './operator-desk.ts';
import type { ReplyAnchor } from './reply-stages.ts';
import type { CallReporter } from './reporter.ts';
import { Sayings } from './sayings.ts';
import type { AgentSpeech } from './speaking/agent-speech.ts';
import type { AgentTools } from './tools/agent-tools.ts';

export interface AgentActionsDeps {
  reporter: CallReporter;
  hearing: Hearing;
  agentSpeech: AgentSpeech;
  floor: Floor;
  operator: OperatorDesk;
  input: CallerInput;
  tools: AgentTools;
  models: AgentModels;
  /** Sends a checkpoint now. */
  checkpoint(): void;
  finish(reason: EndedReason, disposition: string | null, error: string | null): void;
}

export class AgentActions {
  readonly #deps: AgentActionsDeps;
  readonly #sayings = new Sayings();
  /** Of a caller who has had no word since a tool was asked. */
  #owedAnchor: ReplyAnchor | null = null;

  constructor(deps: AgentActionsDeps) {
    this.#deps = deps;
  }

  carryOut(action: AgentAction): void {
    const { reporter, hearing, agentSpeech, floor, input, tools, models, checkpoint, finish } = this.#deps;
    switch (action.type) {
      case 'step':
        reporter.conversationEvent({ type: 'step', stepId: action.stepId, atMs: reporter.nowMs });
        break;
      case 'warning':
        reporter.warning(action.code, action.message, action);
        break;
      case 'recovery': {
        const { what, message, afterMs } = action;
        reporter.conversationEvent({ type: 'recovery', what, gapMs: afterMs, message, atMs: reporter.nowMs });
        break;
      }
      case 'ready':
        agentSpeech.makeReady(action.text);
        break;
      case 'listen':
        hearing.listenAnew();
        break;
      case 'keep':
        reporter.oweCheckpoint();
        break;
      case 'hold':
        hearing.hold(action.isHeld, 'agent');
        break;
      case 'hush':
        this.drop();
        floor.hush();
        break;
      case 'say':
        this.#say(action);
        break;
      case 'tool':
        this.#owedAnchor = input.takeAnchor();
        tools.use(action, checkpoint);
        break;
      case 'ask':
        models.ask(action);
        break;
      case 'unask':
        models.unask(action.ref);
        break;
      case 'end':
        finish(action.reason, action.disposition, action.error);
        break;
    }
  }

  /** Says the next of what waits, if the agent may speak now. */
  sayWaiting(): boolean {
    if (this.#sayings.isEmpty) return false;
    const { agentSpeech, operator, floor, hearing } = this.#deps;
    if (agentSpeech.active || operator.muted || floor.isHeld || floor.isTaken) return false;
    const utterance = this.#sayings.take();
    if (utterance === null) return false;
    agentSpeech.say(utterance);
    hearing.agentSpeaks(utterance.interruptible);
    return true;
  }

  /** Nobody will hear what waits to be said. False: nothing waited. */
  drop(): boolean {
    return this.#sayings.drop();
  }

  #say({ speech, stepId, interruptible, isReply, ref }: Extract<AgentAction, { type: 'say' }>): void {
    const { input, floor, models } = this.#deps;
    const anchor = input.takeAnchor() ?? this.#owedAnchor ?? (isReply === true ? input.takeLastAnchor() : null);
    this.#owedAnchor = null;
    floor.answerEncouragement();
    this.#sayings.add({ speech, stepId, interruptible, anchor, ask: ref === undefined ? null : models.timesOf(ref) });
    this.sayWaiting();
  }
}
