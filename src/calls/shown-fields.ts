/**
 * What the call log and the webhooks say of a call in the same way. Pure; called by the API's call view and by the body
 * of a webhook event, which must not differ.
 */
import type { CallRecord } from './call-record.ts';

/** `secret.*` is for tools alone (contract §3): it is stored, and no client and no receiver sees it. */
export function publicMetadata(metadata: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(metadata).filter(([key]) => !key.startsWith('secret.')));
}

/** Null when the carrier never reported ringing; an answer without it is legal. */
export function ringSeconds(call: Pick<CallRecord, 'ringingAt' | 'answeredAt' | 'endedAt'>): number | null {
  return secondsBetween(call.ringingAt, call.answeredAt ?? call.endedAt);
}

/** To a tenth; never negative, whatever order the carrier's callbacks had. */
export function secondsBetween(from: Date | null, to: Date | null): number | null {
  if (from === null || to === null) return null;
  return Math.max(0, Math.round((to.getTime() - from.getTime()) / 100) / 10);
}
