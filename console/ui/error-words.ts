/** What went wrong, in the service's own words where it has some, with the way out. */
import { ParleyError } from '../../clients/typescript/src/parley-error.ts';
import { common } from '../texts/en/common.ts';

export interface ErrorWords {
  title: string;
  /** Of fields, and what else helps; for support the request's id. */
  details: readonly { field: string; issue: string }[];
  requestId: string | null;
  kind: 'offline' | 'forbidden' | 'missing' | 'changed' | 'other';
}

/** The session is over: the shell asks to sign in again, over the page, and nothing more is to be told in it. */
export const isSignedOut = (error: unknown): boolean => error instanceof ParleyError && error.code === 'session_needed';

export function wordsOf(error: unknown): ErrorWords {
  if (error instanceof ParleyError) {
    const { status, message, details, requestId } = error;
    const kind = status === 403 ? 'forbidden' : status === 404 ? 'missing' : status === 412 ? 'changed' : 'other';
    // One fault says more than the sentence above it.
    const only = details.length === 1 ? details[0]!.issue : null;
    return { title: only ?? (message.startsWith('HTTP ') ? common.failed(status) : message), details, requestId, kind };
  }
  const isOffline = error instanceof TypeError || (error instanceof DOMException && error.name === 'TimeoutError');
  const title = isOffline ? common.unreachable : error instanceof Error ? error.message : String(error);
  return { title, details: [], requestId: null, kind: isOffline ? 'offline' : 'other' };
}

/** The faults of one form, by field. `definition.steps[0].say` is there under its own name. */
export function faultsOf(error: unknown): Record<string, string> {
  if (!(error instanceof ParleyError)) return {};
  const found: Record<string, string> = {};
  for (const { field, issue } of error.details) if (field !== '') found[field] ??= issue;
  return found;
}
