/**
 * What a call may use of a workspace's connections to providers, for as long as it lasts. Control opens the sealed
 * credentials where a call begins and hands grants to the media process, whose I/O thread gives them to provider
 * threads and to nothing else: neither the pipeline threads nor a checkpoint, an event or a log ever hold one. Agents
 * know connections by their names. Types only.
 */

export interface ConnectionGrant {
  /** Unique in the workspace. */
  name: string;
  /** A connection never changes: each change of it is a version of its own, and a call keeps that with which it began. */
  version: number;
  /** Of `media/contract/providers.ts`. */
  provider: string;
  /** Checked by the address guard at each dial. */
  baseUrl: string;
  /** By the names that the provider declares. Never logged. */
  credentials: Readonly<Record<string, string>>;
  limits: ConnectionLimits;
  settings: Readonly<Record<string, unknown>>;
}

/** Absent: as many as the provider takes. Counted by each provider thread's process, not across processes. */
export interface ConnectionLimits {
  concurrent?: number;
  requestsPerMinute?: number;
}
