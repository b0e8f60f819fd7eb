/**
 * What can go wrong before and during a session, in contract §10's codes, with a sentence for whoever can do something
 * about it: the visitor, or the website's owner. A refused promise becomes a fault here and nowhere else.
 */
import type { Fault, FaultCode } from '../contract/ports.ts';

/** What a visitor can mend. */
const VISITORS: Partial<Record<FaultCode, string>> = {
  mic_denied: 'The microphone is blocked. Allow it for this page in the address bar, then try again.',
  mic_missing: 'No microphone was found, or another program holds it. Connect or free one, then try again.',
  rate_limited: 'Too many conversations at once. Please try again in a moment.',
  token_expired: 'The call took too long to begin. Please try again.',
  network: 'The connection was lost. Check your network, then try again.',
  unsupported_browser: 'This browser cannot hold a voice call. Please use a current one.',
};

/** What the website's owner can. */
const OWNERS: Partial<Record<FaultCode, string>> = {
  insecure_context: 'voice needs a secure page: https, or localhost.',
  policy_blocked:
    'the page may not use the microphone or play sound by itself: start() in a click; a frame needs allow="microphone; autoplay".',
  csp_blocked: "the page's Content-Security-Policy blocks the voice service; docs/embed-script.md has what it needs.",
  origin_not_allowed: `${location.origin} is not on the allowed domains of this key: add it in Settings, Web Embed.`,
  invalid_public_key: 'data-public-key is unknown, switched off or revoked.',
  agent_not_found: 'data-agent-id names no agent of this workspace that is for the web.',
};

export const messageOf = (code: FaultCode): string =>
  VISITORS[code] ?? 'Talking is not possible right now. Please try again later.';

/** Undefined: nothing that the owner could do about. */
export const ownersWay = (code: FaultCode): string | undefined => OWNERS[code];

/** Thrown inside the widget where the code is already known. */
export class FaultError extends Error {
  readonly fault: Fault;
  constructor(code: FaultCode, reason: string) {
    super(reason);
    this.fault = { code, reason };
  }
}

/**
 * `X-Error-Code` of the embed session and `error.code` of `/ws/live`, to the widget's codes;
 * what is missing is `server`.
 */
const BY_SERVER_CODE: Record<string, FaultCode> = {
  origin_not_allowed: 'origin_not_allowed',
  invalid_parent_origin: 'origin_not_allowed',
  invalid_public_key: 'invalid_public_key',
  agent_not_found: 'agent_not_found',
  embed_rate_limit: 'rate_limited',
  concurrency_limit: 'rate_limited',
  token_expired: 'token_expired',
  token_invalid: 'token_expired',
  token_used: 'token_expired',
};

export const codeOfServer = (serverCode: string): FaultCode => BY_SERVER_CODE[serverCode] ?? 'server';

/** Violations of the page's policy that concern us; the promise that it broke is told only afterwards. */
export function watchPolicy(base: string): () => string | null {
  let blocked: string | null = null;
  document.addEventListener('securitypolicyviolation', (event) => {
    const host = base.replace(/^https?:/, '');
    if (event.blockedURI.replace(/^(https?|wss?):/, '').startsWith(host)) blocked = event.effectiveDirective;
  });
  return () => blocked;
}

const VIOLATION_WAIT_MS = 60;

export async function faultOf(error: unknown, violation: () => string | null): Promise<Fault> {
  if (error instanceof FaultError) return error.fault;
  const name = error instanceof Error ? error.name : String(error);
  if (name === 'NotAllowedError' || name === 'SecurityError') {
    return mayAsk() ? { code: 'mic_denied', reason: name } : { code: 'policy_blocked', reason: 'permissions_policy' };
  }
  if (['NotFoundError', 'NotReadableError', 'OverconstrainedError', 'AbortError'].includes(name)) {
    return { code: 'mic_missing', reason: name };
  }
  await new Promise((done) => setTimeout(done, VIOLATION_WAIT_MS));
  const directive = violation();
  if (directive !== null) return { code: 'csp_blocked', reason: directive };
  return { code: name === 'TypeError' ? 'network' : 'server', reason: name };
}

/** False when the Permissions-Policy of the page or of its frame forbids the microphone. */
function mayAsk(): boolean {
  const { featurePolicy } = document as { featurePolicy?: { allowsFeature(name: string): boolean } };
  return featurePolicy?.allowsFeature('microphone') !== false;
}
