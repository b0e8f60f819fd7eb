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

export type AgentDefinition = ScriptedAgent | ToneAgent;
