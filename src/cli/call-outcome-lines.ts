/**
 * How a call went, in lines for people: its error, warnings, recoveries, latency and cost. Used by `parley call show`.
 */
import type { Recovery } from '../call-log/call-recovery.ts';
import type { CallFailure } from '../calls/call-failure.ts';
import type { ShownWarning } from '../calls/call-warnings.ts';
import type { CallCost } from '../usage/call-usage.ts';

export interface CallWent {
  error: CallFailure | null;
  warnings: readonly ShownWarning[];
  recovery: readonly Recovery[];
  /** As `summariseLatencies` has made it. */
  latency: Readonly<Record<string, unknown>> | null;
  cost: CallCost | null;
}

/** Nothing of what there was nothing of. */
export function howItWent({ error, warnings, recovery, latency, cost }: CallWent): string[] {
  return [
    ...(error === null
      ? []
      : [`error     ${error.code}${error.provider === null ? '' : ` (${error.provider})`}: ${error.message}`]),
    ...warnings.map(({ code, key, count }) => {
      const times = count === 1 ? '' : `, ${count} times`;
      return `warning   ${code}${key === null ? '' : ` (${key})`}${times}`;
    }),
    ...recovery.map(({ what, gapMs, message }) => {
      const gap = gapMs === null ? '' : ` after ${gapMs} ms`;
      return `recovery  ${what}${gap}${message === null ? '' : `: ${message}`}`;
    }),
    ...latencyLines(latency),
    ...(cost === null ? [] : [`cost      ${costText(cost)}`]),
  ];
}

function latencyLines(latency: CallWent['latency']): string[] {
  const spread = latency?.['mouthToEarMs'] as { p50: number; p95: number; count: number } | null | undefined;
  if (spread === null || spread === undefined) return [];
  const { p50, p95, count } = spread;
  return [`latency   mouth to ear ${p50} ms (p50), ${p95} ms (p95) of ${count} ${count === 1 ? 'reply' : 'replies'}`];
}

function costText({ currency, total, isComplete, items, usage }: CallCost): string {
  const used = usage.map(({ connection, model, unit, quantity }) => `${quantity} ${unit} of ${connection} (${model})`);
  const parts = items.map(({ kind, amount }) => `${kind} ${amount}`).join(', ');
  const known = total === null ? 'no price is known' : `${total} ${currency} (${parts})`;
  return `${known}${total !== null && !isComplete ? ', and more that has no price' : ''}; used ${used.join(', ')}`;
}
