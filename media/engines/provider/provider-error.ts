/**
 * Why a provider did not do what it was asked for, in the classes by which others decide what to do about it. Made of
 * what the network and the provider said; no message of it holds a credential.
 */
import type { ConnectionGrant } from '../../contract/grant.ts';
import type { ProviderFault } from '../../contract/model.ts';
import type { SocketEnd } from '../../net/guarded-socket.ts';

export class ProviderError extends Error {
  override readonly name = 'ProviderError';
  readonly fault: ProviderFault;
  /** Of `throttled`, where the provider says it. */
  readonly retryAfterMs: number | null;

  constructor(fault: ProviderFault, message: string, retryAfterMs: number | null = null) {
    super(message);
    this.fault = fault;
    this.retryAfterMs = retryAfterMs;
  }
}

/** So much of a secret is known to be one, where its end was cut off. */
const SECRET_HEAD_CHARS = 8;
/** What was cut behind that much ends so; whatever follows, more of it is no chance. */
const CUT = /^(?:$|[…”")]|\.\.)/;

/** What a provider said, for others to read: some repeat the key that they refuse, and what is long was cut in it. */
export function withoutSecrets(text: string, { credentials }: Pick<ConnectionGrant, 'credentials'>): string {
  return Object.values(credentials).reduce((safe, secret) => (secret === '' ? safe : without(secret, safe)), text);
}

function without(secret: string, text: string): string {
  const [head, tail] = [secret.slice(0, SECRET_HEAD_CHARS), secret.slice(SECRET_HEAD_CHARS)];
  const [first = '', ...parts] = text.replaceAll(secret, '…').split(head);
  return parts.reduce((safe, part) => {
    let same = 0;
    while (same < tail.length && part[same] === tail[same]) same++;
    const rest = part.slice(same);
    return same > 0 || CUT.test(rest) ? `${safe}…${rest}` : `${safe}${head}${part}`;
  }, first);
}

/** Longer than any call waits. */
const LONGEST_RETRY_AFTER_MS = 60_000;
const MOST_SAID_CHARS = 300;

/** `provider`: as people write it. */
export function errorOfStatus(
  provider: string,
  status: number,
  retryAfter: string | null | undefined,
  said = '',
): ProviderError {
  const words = saidIn(said);
  const message = `${provider} answered ${status}${words === '' ? '' : `: ${words}`}`;
  if (status === 429) return new ProviderError('throttled', message, retryAfterMs(retryAfter));
  // 408 and 425 may fare better; any other 4xx says that the key, the quota or the request is wrong.
  const isLasting = status >= 400 && status < 500 && status !== 408 && status !== 425;
  return new ProviderError(isLasting ? 'refused' : 'failed', message, retryAfterMs(retryAfter));
}

/** Of a socket that ended and was not to. 1008 is a policy: the key, or what was sent (RFC 6455 §7.4.1). */
export function errorOfEnd(provider: string, end: SocketEnd): ProviderError {
  switch (end.kind) {
    case 'refused':
      return new ProviderError('refused', `${provider} may not be dialled: ${end.reason}`);
    case 'failed':
      if (end.status !== undefined) return errorOfStatus(provider, end.status, end.retryAfter, end.body);
      return new ProviderError(end.isTimeout ? 'timeout' : 'failed', `${provider}: ${end.reason}`);
    case 'closed':
      return new ProviderError(
        end.code === 1008 ? 'refused' : 'failed',
        `${provider} closed the connection (${end.code}${end.reason === '' ? '' : `, ${end.reason.slice(0, MOST_SAID_CHARS)}`})`,
      );
  }
}

/** Seconds or a date; null: it says nothing that can be read. */
function retryAfterMs(said: string | null | undefined): number | null {
  const seconds = Number(said ?? '');
  if (said === null || said === undefined || said === '' || !Number.isFinite(seconds) || seconds < 0) return null;
  return Math.min(seconds * 1_000, LONGEST_RETRY_AFTER_MS);
}

/** The provider's own sentence, from the places where providers put it. */
function saidIn(body: string): string {
  try {
    const { error, detail, err_msg: deepgram, message } = JSON.parse(body) as Record<string, unknown>;
    const inner = (error ?? detail) as { message?: unknown } | undefined;
    const said = deepgram ?? inner?.message ?? message ?? error;
    return typeof said === 'string' ? said.slice(0, MOST_SAID_CHARS) : '';
  } catch {
    return '';
  }
}
