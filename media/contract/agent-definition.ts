/**
 * The agent as stored and as handed to the media plane. The zod schema that checks an import lives in `src/agents`
 * and is held equal to these types by the compiler. One version of a definition never changes; a call keeps the version
 * it began with.
 */

import type { ScriptedLine } from './clip.ts';
import type { ToolDefinition } from './tools.ts';

export type AgentDirection = 'outbound' | 'inbound' | 'web' | 'any';
/** Sets how patient turn taking is after a step's question. */
export type Expectation = 'open' | 'yesno' | 'digits' | 'spelling' | 'none';

export interface ScriptedReply {
  /** Short label, unique in its step; goes into the call's events and the analysis. */
  intent: string;
  /** What the recogniser listens for: words, and the classes `<digits>` and `<name>`. */
  phrases: string[];
  /** Variables to set: `$heard` is the whole heard text, `$digits` and `$name` what a class caught, else a literal. */
  set?: Record<string, string>;
  /** Id of the next step; absent stays on this step. */
  goto?: string;
}

export interface ScriptedToolUse {
  /** One of the agent's `tools`. */
  name: string;
  /** May hold placeholders and variables; turned into the types that the tool's `parameters` ask for. */
  arguments?: Record<string, string>;
  /** Said at once, while the tool is at work. */
  saying?: string;
  goto: string;
  /** Where to go when it fails. Absent: `fallback.goto`. */
  onError?: string;
}

export interface ScriptedEnd {
  /** A contract §1 `endedReason`; the usual one is `agent_hangup`. */
  reason: string;
  disposition?: string;
}

export interface ScriptedStep {
  id: string;
  /** A list is picked in turn on each visit. Absent: the step says nothing. May hold placeholders and variables. */
  say?: ScriptedLine | ScriptedLine[];
  interruptible?: boolean;
  expect?: Expectation;
  replies?: ScriptedReply[];
  /** Where to go when the step expects nothing (`expect: "none"`) and has been said. */
  goto?: string;
  tool?: ScriptedToolUse;
  /** Hang up after `say` was heard. */
  end?: ScriptedEnd;
}

/** How calls of an agent are read once they are over; `docs/analysis.md`. */
export interface AgentAnalysis {
  /** JSON Schema of the `data` to extract, an object; few keywords (`src/analysis/data-schema.ts`). */
  data?: Record<string, unknown>;
  /** Intents or dispositions that make a call a success; with these, every other one does not. */
  successIntents?: string[];
  /** What counts as success, in plain words, for a language model. */
  successWhen?: string;
  /** False: the workspace's model is never asked about calls of this agent. */
  useModel?: boolean;
}

export interface ScriptedAgent {
  kind: 'scripted';
  name: string;
  direction: AgentDirection;
  language: 'en-US';
  /** A voice of the local engine: `slt`, `rms`, `awb` or `kal16`. */
  voice: string;
  /**
   * What tells the caller's voice from other sounds: `gate` (the default; quiet lines) or `neural`, a model behind the
   * gate (noise, music, tones), which needs packages of its own and falls back to the gate without them.
   */
  voiceActivity?: 'gate' | 'neural';
  /** The text of the specification: later agent kinds' prompt, here the context of the analysis. */
  script: string;
  /** Said first, rendered while the phone rings. The conversation then goes on at `steps[0]`. */
  greeting: ScriptedLine;
  steps: ScriptedStep[];
  /** What to say when nothing in the grammar fits; after `after` misses in a row on one step, go to `goto`. */
  fallback: { say: ScriptedLine[]; after: number; goto: string };
  idle: { promptAfterMs: number; say: ScriptedLine[]; endAfterMs: number };
  maxDurationSeconds?: number;
  /** Default values of placeholders. */
  defaults?: Record<string, string>;
  /** Labels that an analysis chooses from; absent: the default list (contract §6). */
  intents?: string[];
  analysis?: AgentAnalysis;
  tools?: ToolDefinition[];
}

/** Speaks a steady tone and listens to nothing: the bench measures sockets with it, not engines. */
export interface ToneAgent {
  kind: 'tone';
  name: string;
  direction: AgentDirection;
  toneHz: number;
  maxDurationSeconds?: number;
}

/** A model that a conversing agent thinks with. */
export interface CascadeModel {
  /** A connection of the workspace, by its name. */
  connection: string;
  /** Of `media/engines/registry.ts`. Default `openai`: any endpoint that speaks OpenAI's chat completions. */
  engine?: string;
  model: string;
  temperature?: number;
  /** Of one answer, thoughts included. Default 400. */
  maxTokens?: number;
  /** For `limits.costUsd`: US dollars a million tokens. */
  price?: { input: number; cachedInput?: number; output: number };
  /** The engine's own, such as `reasoningEffort`. */
  settings?: Record<string, unknown>;
}

/** A recogniser. Without a connection: a local one. */
export interface CascadeEar {
  connection?: string;
  engine: string;
  model?: string;
  /** Names and words of the trade to look out for. */
  keyterms?: string[];
  settings?: Record<string, unknown>;
}

/** A voice. Without a connection: a local one. */
export interface CascadeVoice {
  connection?: string;
  engine: string;
  /** What its engine calls it. */
  voice: string;
  model?: string;
  settings?: Record<string, unknown>;
}

/** Tools that every conversing agent may be given, beside its own. */
export const BUILT_IN_TOOLS = ['end_call', 'send_digits', 'mark_do_not_call'] as const;
export type BuiltInTool = (typeof BUILT_IN_TOOLS)[number];

/**
 * The step that is told where the caller asks not to be called again: the number is suppressed, however the call ends.
 */
export const DO_NOT_CALL_STEP = 'do_not_call';

/**
 * Converses freely: recogniser → language model with tools → voice. `docs/cascade.md` describes each field. Where a
 * list of engines stands, the first that can be had is used.
 */
export interface CascadeAgent {
  kind: 'cascade';
  /** Of this shape. */
  schema: 1;
  name: string;
  direction: AgentDirection;
  /** BCP 47, of what it says; the built-in lines are in it. */
  language: string;
  /** Others that callers may speak. */
  otherLanguages?: string[];
  /** The text of the specification: the prompt. Placeholders in it are filled, quoted as data. */
  script: string;
  /** Said first, rendered while the phone rings. Absent: `speaksFirst` decides. */
  firstMessage?: string;
  /** Without a first message: the agent greets in words of its own (the default), or waits for the caller. */
  speaksFirst?: 'agent' | 'caller';
  think: CascadeModel[];
  listen: CascadeEar;
  speak: CascadeVoice[];
  voiceActivity?: 'gate' | 'neural';
  tools?: ToolDefinition[];
  /** Default: `end_call` and `mark_do_not_call`. */
  builtInTools?: BuiltInTool[];
  /** About the end of a call. */
  end?: {
    /** When to end it, in words, for the model. */
    when?: string;
    /** Said last where the model says nothing itself. */
    farewell?: string;
    /** What the model may say that came of the call. */
    dispositions?: string[];
  };
  /** Silence that ends the caller's turn after an open question, ms: of whole sentences, and in any case. */
  patience?: { minMs: number; maxMs: number };
  /**
   * Said into silence while an answer is thought of: first after `afterMs` (default 700). No lines: nothing is said.
   */
  filler?: { afterMs?: number; say?: string[] };
  idle?: { promptAfterMs: number; say: string[]; endAfterMs: number };
  /** A model without a first word for so long is not waited for alone: the next one is asked too. Default 1,200. */
  hedgeAfterMs?: number;
  limits?: {
    /** Of all models together, in and out. Default 400,000. */
    tokens?: number;
    /** By the prices of `think`. */
    costUsd?: number;
    /** Of one answer. Default 1,200. */
    answerCharacters?: number;
  };
  maxDurationSeconds?: number;
  defaults?: Record<string, string>;
  intents?: string[];
  analysis?: AgentAnalysis;
}

export type AgentDefinition = ScriptedAgent | CascadeAgent | ToneAgent;

/** Its calls take room in front of the local voice or the local recogniser. */
export function usesLocalEngines(definition: AgentDefinition): boolean {
  if (definition.kind === 'tone') return false;
  if (definition.kind === 'scripted') return true;
  return definition.listen.connection === undefined || definition.speak[0]?.connection === undefined;
}

/** What every kind that talks has, and a tone has not. */
export function talkingAgent(definition: AgentDefinition): ScriptedAgent | CascadeAgent | null {
  return definition.kind === 'tone' ? null : definition;
}
