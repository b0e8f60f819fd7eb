/** What both ears of Deepgram share: the socket of a call's sound, with the key, and whose answers come over it. */
import type { ProviderEarWish } from '../provider/provider-ear.ts';
import { ProviderError } from '../provider/provider-error.ts';
import type { ServiceDeps } from '../provider/provider-service.ts';
import { SoundSocket, type SoundSocketListener, type SoundSocketOptions } from '../provider/sound-socket.ts';

export const DEEPGRAM = 'Deepgram';

export const bytesPerMs = ({ codec, rateHz }: ProviderEarWish): number =>
  (rateHz / 1_000) * (codec === 'mulaw' ? 1 : 2);

export function deepgramSocket(
  wish: ProviderEarWish,
  deps: Pick<ServiceDeps, 'clock' | 'openSocket'>,
  options: Pick<SoundSocketOptions, 'url' | 'keepAlive'>,
  listener: SoundSocketListener,
): SoundSocket {
  const headers = { authorization: `Token ${wish.grant.credentials['apiKey'] ?? ''}` };
  const goodbye = '{"type":"CloseStream"}';
  return new SoundSocket(
    { ...options, provider: DEEPGRAM, headers, goodbye, bytesPerMs: bytesPerMs(wish) },
    deps,
    listener,
  );
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
