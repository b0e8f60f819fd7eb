/**
 * The shapes that the widget's separately loaded parts exchange: the loader (`embed.js`), the voice engine, the panel.
 * Types only: nothing of this file is shipped.
 */

export type Status = 'connecting' | 'connected' | 'disconnected' | 'error';

/** Contract §10: what can go wrong, as a machine word. */
export type FaultCode =
  | 'mic_denied'
  | 'mic_missing'
  | 'insecure_context'
  | 'policy_blocked'
  | 'csp_blocked'
  | 'origin_not_allowed'
  | 'invalid_public_key'
  | 'agent_not_found'
  | 'rate_limited'
  | 'token_expired'
  | 'network'
  | 'server'
  | 'unsupported_browser';

export interface StatusEvent {
  status: Status;
  /** Why, in a machine word: `user_hangup`, `agent_hangup`, `resuming`, … */
  reason?: string;
  /** With `error` only. */
  code?: FaultCode;
  /** With `error` only: a sentence for the visitor that names the way out. */
  message?: string;
  callUuid?: string;
  /** Of a reconnect, from 1. */
  attempt?: number;
}

/** How a session failed; `reason` is more exact than `code`. */
export interface Fault {
  code: FaultCode;
  reason: string;
}

export interface StartOptions {
  /** Fills `{{customer_name}}`. */
  name?: string;
  /** Each key fills a placeholder of the agent's script. */
  metadata?: Record<string, unknown>;
}

export type ToolHandler = (args: unknown) => unknown;

/** Events beside `status`, for pages that draw what happens. Their payloads are the messages of `/ws/live`. */
export type EventName =
  | 'status'
  | 'state'
  | 'speech'
  | 'transcript'
  | 'latency'
  | 'level'
  | 'network'
  | 'warning'
  | 'tool';

/** `level`: 0 to 1, about 15 a second. */
export interface LevelEvent {
  who: 'user' | 'agent';
  level: number;
}

export interface WidgetConfig {
  /** Where `embed.js` came from, without a slash at its end. */
  base: string;
  publicKey: string;
  agentId: string;
  /** `data-codec`: `auto` or `pcm`. */
  codec: string;
  /** `data-title`, the panel's heading; empty: the owner's name for it, or the usual words. */
  title: string;
  /** `data-panel`: what opens while a call runs. `auto`: as the owner has set it. */
  panel: 'none' | 'overlay' | 'docked' | 'auto';
  nonce: string;
}

/** What a click has set going before the engine is there; every promise is already on its way. */
export interface Unlocked {
  context: AudioContext;
  microphone: Promise<MediaStream>;
  token: Promise<string>;
  /** True when no prompt stands between the click and the microphone. */
  granted: Promise<boolean>;
}

export interface SessionHost {
  config: WidgetConfig;
  options: StartOptions;
  version: string;
  /** Address of the audio worklets' module. */
  workletUrl: string;
  tools: ReadonlyMap<string, ToolHandler>;
  requestToken(): Promise<string>;
  requestMicrophone(): Promise<MediaStream>;
  /** What a rejection of any of these promises means. */
  faultOf(error: unknown): Promise<Fault>;
  connecting(attempt: number): void;
  connected(callUuid: string): void;
  /** Exactly one of these two, once; the session has released everything by then. */
  ended(reason: string): void;
  failed(fault: Fault): void;
  emit(name: EventName, payload: unknown): void;
}

export interface Session {
  /** Hangs up: silent within 20 ms, told to the server, everything released. Idempotent. */
  end(reason: string): void;
  mute(muted: boolean): void;
  sendText(text: string): void;
  sendDigits(digits: string): void;
}

export interface SessionEngine {
  createSession(host: SessionHost, unlocked: Unlocked): Session;
}

/** What the panel may ask of the instance that it belongs to. */
export interface PanelHost {
  config: WidgetConfig;
  on(name: EventName, handler: (payload: never) => void): () => void;
  start(): unknown;
  /** Hides the modal and ends the call. */
  close(): void;
  end(): void;
  mute(muted: boolean): void;
  sendText(text: string): void;
}

export interface Panel {
  /** `isAsked`: by the page; else a call begins, and what opens then is as the page or the owner has set it. */
  show(isAsked: boolean): void;
  hide(): void;
  /** The floating button; idempotent. */
  showButton(): void;
}

export interface PanelModule {
  createPanel(host: PanelHost): Panel;
}
