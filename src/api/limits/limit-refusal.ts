/**
 * How limits of calls are told to clients (contract §11): the RateLimit headers of the IETF draft-11 form and
 * Retry-After. For every route that places calls; on the way there the guard has told of the key's own rate, and these
 * are reached first.
 */
import type { CallsLeft } from '../../limits/call-limits.ts';
import type { Placement } from '../../placement/ports.ts';
import { Refusal } from '../refusal.ts';

/** How long a client should stay away from a node that takes no calls. */
export const RETRY_UNAVAILABLE_SECONDS = 5;

/** Step 13. */
export function limitRefusal(placement: Extract<Placement, { kind: 'limited' }>): Refusal {
  if (placement.code === 'daily_limit') return dailyRefusal(placement);
  const { code, retryAfterSeconds, left } = placement;
  const name = code === 'cps_limit' ? 'cps' : 'concurrent';
  return new Refusal(code, {
    retryAfterSeconds,
    headers: { ...limitHeaders(left), ratelimit: `"${name}";r=0;t=${retryAfterSeconds}` },
  });
}

function dailyRefusal({
  code,
  retryAfterSeconds,
  ceiling,
}: Extract<Placement, { kind: 'limited'; code: 'daily_limit' }>): Refusal {
  const { name, value } = ceiling;
  return new Refusal(code, {
    retryAfterSeconds,
    headers: { 'ratelimit-policy': `"${name}";q=${value};w=86400`, ratelimit: `"${name}";r=0;t=${retryAfterSeconds}` },
  });
}

/** Step 12. */
export function drainingRefusal(placement: Extract<Placement, { kind: 'draining' }>): Refusal {
  return new Refusal(placement.code ?? 'draining', {
    retryAfterSeconds: placement.retryAfterSeconds ?? RETRY_UNAVAILABLE_SECONDS,
  });
}

export function limitHeaders(left: CallsLeft | undefined): Record<string, string> {
  if (left === undefined) return {};
  const { perSecond, concurrent } = left;
  return {
    'ratelimit-policy': `"cps";q=${perSecond.limit};w=1, "concurrent";q=${concurrent.limit}`,
    ratelimit: `"cps";r=${perSecond.remaining};t=1, "concurrent";r=${concurrent.remaining}`,
  };
}
