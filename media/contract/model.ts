/**
 * A language model as an agent asks it: the whole conversation so far, and the tools that may be used. What comes back
 * comes bit by bit. Carried by the call between the agent (`AgentAction` "ask", `AgentEvent` "model") and the engine
 * that speaks a provider's protocol (`media/engines`). Types only.
 */

export type ModelMessage =
  /** What the agent is: first, and the same in every request of a call, so that a provider can keep what it read. */
  | { role: 'system'; text: string }
  | { role: 'user'; text: string }
  /** What was heard of it, and the tools that it used. */
  | { role: 'assistant'; text: string; toolUses?: readonly ModelToolUse[] }
  /** Exactly one for each use, right after the message that has the use. */
  | { role: 'tool'; useId: string; text: string };

export interface ModelToolUse {
  useId: string;
  name: string;
  /** As the model wrote it: it need not be JSON. */
  argumentsText: string;
  /** What its provider wants to see again with it, as it gave it; to all others it means nothing. */
  providerMark?: string;
}

export interface ModelTool {
  name: string;
  description: string;
  /** JSON Schema of the arguments object. */
  parameters: Readonly<Record<string, unknown>>;
}

export interface ModelRequest {
  messages: readonly ModelMessage[];
  tools: readonly ModelTool[];
  /** `none`: it is to answer in words now. */
  toolChoice: 'auto' | 'none';
  /** Of the answer. */
  maxTokens: number;
}

/** Tokens, as the provider counts them. */
export interface ModelUsage {
  inputTokens: number;
  /** Of those, what the provider still had. */
  cachedInputTokens: number;
  outputTokens: number;
}

/**
 * What may be done about it. `refused`: the key, the quota or the request itself; never asked again in this form.
 * `throttled`: asked too often. `failed`: the connection or the provider. `timeout`: nothing came. `no_connection`:
 * this call may not use a connection of this name (any more).
 */
export type ProviderFault = 'refused' | 'throttled' | 'failed' | 'timeout' | 'no_connection';

/** In order, and nothing after `done` or `failed`. */
export type ModelChunk =
  | { type: 'text'; text: string }
  /** Whole: told when its arguments are. */
  | { type: 'use'; use: ModelToolUse }
  /** `usage` null: the provider does not say. */
  | { type: 'done'; stop: 'end' | 'tools' | 'length' | 'filtered'; usage: ModelUsage | null }
  | { type: 'failed'; fault: ProviderFault; message: string };

/** Behind which a model is asked; made once a call and use of a connection. */
export interface LanguageModel {
  /**
   * `onChunk` is called later, never from within. Returns what takes the request back: no chunk comes after that, and
   * the provider is told to stop.
   */
  ask(request: ModelRequest, onChunk: (chunk: ModelChunk) => void): () => void;
}
