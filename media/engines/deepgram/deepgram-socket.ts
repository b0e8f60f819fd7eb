/** What both ears of Deepgram share: how their socket is opened and closed, and whose answers come over it. */
import type { EarSocketOptions } from '../provider/hearing/socket-ear.ts';
import type { ProviderEarWish } from '../provider/provider-ear.ts';
import { ProviderError } from '../provider/provider-error.ts';

const DEEPGRAM = 'Deepgram';

export function deepgramSocket({ grant }: ProviderEarWish, keepAlive: EarSocketOptions['keepAlive']): EarSocketOptions {
  return {
    provider: DEEPGRAM,
    headers: { authorization: `Token ${grant.credentials['apiKey'] ?? ''}` },
    keepAlive,
    goodbye: '{"type":"CloseStream"}',
  };
}

/** Each answer names its request. One of another is not this caller's words, whatever they are. */
export class OwnRequest {
  #id: string | null = null;

  opened(requestId: string | null): void {
    this.#id = requestId;
  }

  /** Null: it is ours. The first that names one is believed where the upgrade's answer did not. */
  faultOf(requestId: unknown): ProviderError | null {
    if (typeof requestId !== 'string') return null;
    this.#id ??= requestId;
    if (requestId === this.#id) return null;
    return new ProviderError('failed', `${DEEPGRAM} answered for another request (${requestId.slice(0, 64)})`);
  }
}
