/** What the race says to its providers, by IPC, and they to it. */
export type ProvidersOrder =
  /** Since the last one. */
  | { type: 'report' }
  /** So many of the next questions are refused with 429. */
  | { type: 'refuse'; times: number }
  /** All open sockets of the kind are closed with 1011. */
  | { type: 'close'; kind: 'listen' | 'speak' };

export type FromProviders =
  | { type: 'ready'; port: number }
  | { type: 'report'; cpuMs: number; latenessP99Ms: number; questions: number };
