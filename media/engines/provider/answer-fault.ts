/**
 * What may be done about a model's error, and what its server said, for a person. Read by all protocols of models.
 * Pure.
 */
import type { ProviderFault } from '../../contract/model.ts';

const LONGEST_SAID = 200;
/** Asked again later it says the same: these are no matter of pace. */
const OUT_OF_MONEY = /insufficient_quota|billing|credit/i;
/** Google's word for each limit, a minute's too, and it speaks of billing at each. */
const GOOGLE_LIMIT = /RESOURCE_EXHAUSTED/;
const LASTING_GOOGLE_LIMIT = /PerDay|depleted/i;

/** Of an answer that is no 2xx; `body` as far as it was read. */
export function faultOfStatus(status: number, body: string): [ProviderFault, string] {
  const message = `it answered ${status}${said(body)}`;
  if (status === 429) return [isLasting(body) ? 'refused' : 'throttled', message];
  if (status === 408) return ['timeout', message];
  if (status >= 500 || status === 409) return ['failed', message];
  return ['refused', message];
}

/** Of an error in mid-answer. */
export function faultOfError(error: unknown): [ProviderFault, string] {
  const text = JSON.stringify(error) ?? '';
  const message = `it broke off with an error${said(JSON.stringify({ error }))}`;
  if (isLasting(text)) return ['refused', message];
  if (/rate_limit|"429"|:429\b/i.test(text)) return ['throttled', message];
  return ['failed', message];
}

function isLasting(text: string): boolean {
  return GOOGLE_LIMIT.test(text) ? LASTING_GOOGLE_LIMIT.test(text) : OUT_OF_MONEY.test(text);
}

/** In quotes, on one line and cut: a stranger wrote it, and some repeat the key. */
function said(body: string): string {
  let message: unknown;
  try {
    const told: unknown = JSON.parse(body);
    // Google's streams are lists, of errors too, where a server before it takes no other form.
    const { error } = (Array.isArray(told) ? told[0] : told) as { error?: unknown };
    message = typeof error === 'string' ? error : (error as { message?: unknown } | undefined)?.message;
  } catch {
    return '';
  }
  if (typeof message !== 'string' || message === '') return '';
  const plain = message
    .replace(/\b(sk|gsk|key)[-_][\w*-]+/gi, '…')
    .replace(/[\p{Cc}\p{Zl}\p{Zp}\s]+/gu, ' ')
    .trim();
  return `: “${plain.length > LONGEST_SAID ? `${plain.slice(0, LONGEST_SAID)}…` : plain}”`;
}
