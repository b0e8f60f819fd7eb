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
import { OwedWords } from './owed-words.ts';
import { AgentSpeech, type AgentSpeechDeps, type AgentSpeechListener } from './speaking/agent-speech.ts';
import { fixedSentencesOf } from './speaking/fixed-sentences.ts';
import { Takeover } from './takeover/takeover.ts';
import { AgentTools } from './tools/agent-tools.ts';
import type { ToolPort } from './tools/tool-port.ts';
import { ToolUses } from './tools/tool-uses.ts';
import { Encouragement } from './turn-taking/encouragement.ts';

export interface ConversationDeps extends AgentSpeechDeps {
  kind: AgentKind;
  /** Null: the agent does not listen. */
  ear: EarFactory | null;
  /** For who speaks in the agent's place: samples of 16 kHz. Null: as above. */
  personEar: (() => Promise<EarFactory>) | null;
  tools: ToolPort;
  /** By their place in what the agent's kind names. */
  models: readonly LanguageModel[];
  /** Called once: the agent has said its last word, or cannot go on. */
  end: (reason: EndedReason, disposition: string | null, error: string | null) => void;
}

/** What the parts tell the conversation. */
export interface PartsListener extends HearingListener, AgentSpeechListener, FloorListener {
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
  agentSpeech: AgentSpeech;
  floor: Floor;
  hearing: Hearing;
  tools: AgentTools;
  models: AgentModels;
  input: CallerInput;
  actions: AgentActions;
  operator: Operator;
  desk: OperatorDesk;
  owed: OwedWords;
  takeover: Takeover;
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
  const owed = new OwedWords();
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
  const agentSpeech = new AgentSpeech(deps, wish, listener);
  const floor = new Floor({ reporter, agentSpeech, operator: desk, owed, encouragement, listener });
  const hearing = new Hearing({ clock, logger, reporter, ear, agentSpeech, words, floor, listener });
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
    nowMs: () => reporter.exactMs,
    asked: (times, end) => reporter.modelAsked(times, end),
    tell: (ref, chunk) => line.tell({ type: 'model', atMs: reporter.nowMs, ref, chunk }),
    failed: (error) => listener.agentFailed(error),
  });
  const input = new CallerInput({
    ...{ reporter, words, line, floor, hearing, agentSpeech, operator: desk, tools: uses },
    streamMs: () => call.streamMs,
  });
  const actions = new AgentActions({
    ...{ reporter, hearing, agentSpeech, floor, operator: desk, input, tools, models },
    checkpoint: () => listener.checkpoint(),
    finish: (reason, disposition, error) => listener.finish(reason, disposition, error),
  });
  const takeover: Takeover = new Takeover({
    ...{ clock, logger, reporter, agentSpeech, floor, desk, line, format },
    personEar: deps.personEar,
    mute: () => operator.mute(),
  });
  const operator: Operator = new Operator({
    ...{ desk, owed, agentSpeech, floor, hearing, line, reporter, takeover },
    isSteerable: kind.traits.isSteerable,
    sayWaiting: () => actions.sayWaiting(),
  });
  // Not of two spreads: V8 gives each object that is made so a shape of its own, and forgets where its fields are.
  return {
    line,
    words,
    agentSpeech,
    floor,
    hearing,
    tools,
    models,
    input,
    actions,
    operator,
    desk,
    owed,
    takeover,
    encouragement,
  };
}
