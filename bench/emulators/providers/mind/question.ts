/**
 * What an emulated model sees of a request, whatever the protocol in which it was asked: the provider's own file checks
 * the request and makes this of it. Types only.
 */
export interface AskedMessage {
  /** `developer` is `system` to the rules. */
  role: 'system' | 'user' | 'assistant' | 'tool';
  /** Parts of text joined; empty where an assistant only calls tools. */
  text: string;
  /** Of an assistant. */
  calls: { id: string; name: string; arguments: string }[];
  /** Of a tool message. */
  callId: string | null;
}

export interface OfferedTool {
  type: 'function';
  function: { name: string; description?: string; parameters?: Record<string, unknown>; strict?: boolean | null };
}

export type ToolChoice = 'auto' | 'none' | 'required' | { name: string };

export const RESPONSE_FORMATS = ['text', 'json_object', 'json_schema'] as const;

export interface ResponseFormat {
  type: (typeof RESPONSE_FORMATS)[number];
  /** Of `json_schema`; else null. */
  schema: unknown;
}

export interface AskedQuestion {
  model: string;
  messages: AskedMessage[];
  tools: OfferedTool[];
  toolChoice: ToolChoice;
  parallelCalls: boolean;
  responseFormat: ResponseFormat;
}
