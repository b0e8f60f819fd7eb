/**
 * Someone on the other end of an emulated call. Made by the emulator for each call, driven by the media client, 20 ms
 * at a time; knows nothing of the carrier.
 */

export interface Callee {
  /** While the phone rings. The call is not answered before it resolves, so that nothing costly runs in the call. */
  prepare(): Promise<void>;
  /** Fills all 160 bytes with the next 20 ms of mu-law that the callee sends, `lateMs` after they were due. */
  fill(frame: Uint8Array, lateMs: number): void;
  /** The next 20 ms of mu-law at the callee's ear; `agentBytes` of it, from its start, are the agent's. */
  hear(frame: Uint8Array, agentBytes: number): void;
  /** Mu-law of the agent as it comes, before it is queued for playing; the callee may keep it, and changes nothing. */
  arrives?(audio: Uint8Array): void;
  /** What is queued was dropped at the agent's word. */
  cleared?(): void;
  close(): void;
}

/** What a callee does that others want to know. */
export interface CalleeListener {
  said(text: string, interrupting: boolean): void;
  /** Its last words are over. */
  saidAll(): void;
  heard(text: string, understood: boolean): void;
  hangUp(): void;
  warning(message: string): void;
}
