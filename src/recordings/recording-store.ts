/**
 * Where finished recordings lie for good: a disk or an object store. It holds encrypted files under names that say
 * nothing of a person, and knows neither keys nor calls. Used by the uploader (in), the reader (out) and erasure. Both
 * implementations pass `test/unit/recordings/store-conformance.ts`.
 */
import type { StoreSettings } from '../config/recording-settings.ts';

export interface RecordingStore {
  readonly kind: StoreKind;
  /** For people: a folder, or a bucket at an address. */
  readonly place: string;
  /** Stores the whole file; one that is there under this name is replaced. Rejects with `StoreFault`. */
  put(key: string, path: string): Promise<void>;
  /** Bytes; null when there is no such object. */
  size(key: string): Promise<number | null>;
  /** Exactly the bytes `[start, end)`, which must be there. */
  read(key: string, start: number, end: number): Promise<Uint8Array>;
  /** None of that name is fine. Resolves whether there was one. */
  remove(key: string): Promise<boolean>;
  /** The names that begin with `prefix`, in order. */
  list(prefix: string): Promise<string[]>;
  /** Idempotent. */
  close(): Promise<void>;
}

export type StoreKind = StoreSettings['kind'];

/** The store could not do it; the message names the store, what it said, and the way out where there is one. */
export class StoreFault extends Error {
  override readonly name = 'StoreFault';
}

const NAME = /^[0-9A-Za-z][0-9A-Za-z./_-]{0,511}$/;

/** Names are ours; this holds whatever else may come to us away from the disk. */
export function assertObjectName(key: string): void {
  if (!NAME.test(key) || key.split('/').some((part) => part === '' || part === '.' || part === '..')) {
    throw new StoreFault(`"${key}" cannot name a stored recording`);
  }
}

/** `2026/11/21/<callUuid>/<epoch>.sealed`, by the UTC day on which the row was made. */
export function objectKeyOf(callUuid: string, epoch: number, createdAt: Date): string {
  return `${createdAt.toISOString().slice(0, 10).replaceAll('-', '/')}/${callUuid}/${epoch}.sealed`;
}
