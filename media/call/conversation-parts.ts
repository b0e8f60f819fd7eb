/**
 * The parts of one conversation and who knows whom: each is made with those that it uses. Made by the conversation,
 * which lets them work together.
 */
import type { AgentAction, AgentKind } from '../contract/agent.ts';
import { voiceFormatOf } from '../contract/audio-format.ts';
import type { EndedReason } from '../contract/call-outcome.ts';
import type { EarFactory } from '../contract/ear.ts';
import type { CallSetup } from '../contract/link-messages.ts';
import type { LanguageModel } from '../contract/model.ts';
import { AgentActions } from './agent-actions.ts';
import { AgentLine } from './agent-line.ts';
import { CallerInput } from './caller-input.ts';
import { CallerWords } from './caller-words.ts';
import { Floor, type FloorListener } from './floor.ts';
import { Hearing } from './hearing/hearing.ts';
import type { HearingListener } from './hearing/meaning.ts';
import { AgentModels } from './models/agent-models.ts';
import { Operator } from './operator.ts';
import { OperatorDesk } from './operator-desk.ts';
import { AgentVoice, type AgentVoiceDeps, type AgentVoiceListener } from './speaking/agent-voice.ts';
import { fixedSentencesOf } from './speaking/fixed-sentences.ts';
import { AgentTools } from './tools/agent-tools.ts';
import type { ToolPort } from './tools/tool-port.ts';
import { ToolUses } from './tools/tool-uses.ts';
import { Encouragement } from './turn-taking/encouragement.ts';

export interface ConversationDeps extends AgentVoiceDeps {
  kind: AgentKind;
  /** Null: the agent does not listen. */
  ear: EarFactory | null;
  tools: ToolPort;
  /** By their place in what the agent's kind names. */
  models: readonly LanguageModel[];
  /** Called once: the agent has said its last word, or cannot go on. */
  end: (reason: EndedReason, disposition: string | null, error: string | null) => void;
}

/** What the parts tell the conversation. */
export interface PartsListener extends HearingListener, AgentVoiceListener, FloorListener {
  /** The agent wants something. */
  acted(action: AgentAction): void;
  /** The agent threw, or went out of bounds. */
  agentFailed(error: unknown): void;
  /** Sends a checkpoint now, if one is owed. */
  checkpoint(): void;
  finish(reason: EndedReason, disposition: string | null, error: string | null): void;
}

export interface Parts {
  line: AgentLine;
  words: CallerWords;
  voice: AgentVoice;
  floor: Floor;
  hearing: Hearing;
  tools: AgentTools;
  models: AgentModels;
  input: CallerInput;
  actions: AgentActions;
  operator: Operator;
  desk: OperatorDesk;
  encouragement: Encouragement;
}

export function createParts(
  deps: ConversationDeps,
  setup: CallSetup,
  maxDurationMs: number,
  listener: PartsListener,
): Parts {
  const { clock, logger, reporter, kind, ear, call } = deps;
  const { callUuid, agent: definition, placeholders } = setup;
  const format = voiceFormatOf(setup.outputFormat ?? setup.format);
  const desk = new OperatorDesk();
  const encouragement = new Encouragement();
  const line = new AgentLine({
    kind,
    context: { definition, placeholders, maxDurationMs, legRateHz: format.rateHz },
    clock,
    act: (action) => listener.acted(action),
    failed: (error) => listener.agentFailed(error),
  });
  const words = new CallerWords(reporter, line);
  const wish = {
    voice: kind.engines(definition).voice?.name ?? '',
    fixed: fixedSentencesOf(kind.fixedTexts(definition)),
    format,
  };
  const voice = new AgentVoice(deps, wish, listener);
  const floor = new Floor({ reporter, voice, operator: desk, encouragement, listener });
  const hearing = new Hearing({ clock, logger, reporter, ear, voice, words, floor, listener });
  const uses = new ToolUses({
    callUuid,
    definitions: 'tools' in definition ? (definition.tools ?? []) : [],
    port: deps.tools,
    clock,
    reporter,
    resumed: setup.checkpoint?.tools ?? null,
    hasPage: setup.web !== undefined,
  });
  const tools = new AgentTools(uses, line, reporter);
  const models = new AgentModels({
    models: deps.models,
    tell: (ref, chunk) => line.tell({ type: 'model', atMs: reporter.nowMs, ref, chunk }),
    failed: (error) => listener.agentFailed(error),
  });
  const input = new CallerInput({
    ...{ reporter, words, line, floor, hearing, voice, operator: desk, tools: uses },
    streamMs: () => call.streamMs,
  });
  const actions = new AgentActions({
    ...{ reporter, hearing, voice, floor, operator: desk, input, tools, models },
    checkpoint: () => listener.checkpoint(),
    finish: (reason, disposition, error) => listener.finish(reason, disposition, error),
  });
  const operator = new Operator({
    ...{ desk, voice, floor, hearing, line, reporter },
    isSteerable: kind.traits.isSteerable,
    sayWaiting: () => actions.sayWaiting(),
  });
  return { line, words, voice, floor, hearing, tools, models, input, actions, operator, desk, encouragement };
}
