/**
 * `/media/{carrier}/{token}`, there and below the node's own path: asks control whose the token is, and lets the socket
 * in to its call's leg, which hears from it alone from then on. Control burns the token and checks the carrier's
 * signature; this side only refuses what needs no question. The token is a secret: it is in no log line.
 */
import type { Logger } from 'pino';
import type { Clock } from '../../../contract/clock.ts';
import type { ClaimRequest } from '../../../contract/link-messages.ts';
import type { CallRegistry } from '../../call-registry.ts';
import type { CodecRegistry } from '../../carriers/codecs.ts';
import type { MediaCodecFactory } from '../../carriers/media-codec.ts';
import { type ClaimLegDeps, claimLeg } from '../../claim-leg.ts';
import { RefusalLog } from '../../refusal-log.ts';
import type { SocketRoute, UpgradeDecision, UpgradeRequest } from '../../socket-server/media-socket-server.ts';
import { type CarrierLeg, LEG_OF_SOCKET } from './carrier-leg.ts';

export const MEDIA_PATH = '/media/';
const TOKEN = /^[A-Za-z0-9_-]{16,128}$/;
/** What carriers sign with; the rest of a request's headers is nobody's business. */
const SIGNATURE_HEADER = /signature|nonce|timestamp/;
const RETRY_AFTER_SECONDS = 1;

const LIMITS = {
  // No carrier sends more in a message; 20 ms of mu-law are 0.4 KiB.
  maxMessageBytes: 64 * 1024,
  maxBufferedMessageBytes: 256 * 1024,
  maxBackpressureBytes: 256 * 1024,
  idleTimeoutSeconds: 16,
  pingsItself: true,
};

export interface CarrierEndpointOptions extends ClaimLegDeps {
  /** What stands before `/media/`; default nothing. */
  pathBefore?: string;
  codecs: CodecRegistry;
  registry: CallRegistry;
  clock: Clock;
  log: Logger;
  /** File descriptors are running out. */
  isShortOfDescriptors(): boolean;
  /** Counts. */
  refused(httpStatus: number): void;
}

export function createCarrierEndpoint(options: CarrierEndpointOptions): SocketRoute<CarrierLeg> {
  const refusals = new RefusalLog(options.clock, 'media stream', (fields, text) => options.log.warn(fields, text));
  return {
    pathPrefix: prefixOf(options),
    limits: LIMITS,
    upgrade: (request, decision) => new StreamUpgrade(options, refusals, request, decision).run(),
    ...LEG_OF_SOCKET,
  };
}

function prefixOf({ pathBefore = '' }: CarrierEndpointOptions): string {
  return `${pathBefore}${MEDIA_PATH}`;
}

class StreamUpgrade {
  readonly #options: CarrierEndpointOptions;
  readonly #refusals: RefusalLog;
  readonly #request: UpgradeRequest;
  readonly #decision: UpgradeDecision<CarrierLeg>;
  readonly #carrier: string;
  readonly #token: string;

  constructor(
    options: CarrierEndpointOptions,
    refusals: RefusalLog,
    request: UpgradeRequest,
    decision: UpgradeDecision<CarrierLeg>,
  ) {
    this.#options = options;
    this.#refusals = refusals;
    this.#request = request;
    this.#decision = decision;
    const [carrier = '', token = '', ...more] = request.path.slice(prefixOf(options).length).split('/');
    this.#carrier = carrier;
    this.#token = more.length === 0 ? token : '';
  }

  run(): void {
    const { codecs, registry, isShortOfDescriptors } = this.#options;
    const codec = codecs.find(this.#carrier);
    if (codec === undefined) this.#refuse(404, 'no such carrier here');
    else if (!TOKEN.test(this.#token)) this.#refuse(401, 'the path holds no token');
    else if (registry.isDraining) this.#refuse(503, 'draining');
    else if (!registry.hasRoom()) this.#refuse(503, 'at capacity');
    else if (isShortOfDescriptors()) this.#refuse(503, 'file descriptors are running out');
    else {
      this.#claim(codec).catch((error: unknown) => {
        this.#options.log.error({ err: error, carrier: this.#carrier }, 'a fault of ours in an upgrade');
        this.#decision.reject(500);
      });
    }
  }

  async #claim(codec: MediaCodecFactory): Promise<void> {
    const { registry } = this.#options;
    const claimed = await claimLeg(this.#options, this.#claimRequest(), (setup) => registry.carry(setup, codec));
    if (claimed.leg === null) this.#refuse(claimed.refusal.httpStatus, claimed.refusal.why, claimed.callUuid);
    else if (!this.#decision.accept(claimed.leg)) claimed.leg.socketNeverOpened();
  }

  #claimRequest(): ClaimRequest {
    const { path, query, headers } = this.#request;
    const signed: Record<string, string> = {};
    for (const [name, value] of Object.entries(headers)) if (SIGNATURE_HEADER.test(name)) signed[name] = value;
    return {
      carrier: this.#carrier,
      token: this.#token,
      url: query === '' ? path : `${path}?${query}`,
      host: headers['host'] ?? '',
      headers: signed,
    };
  }

  #refuse(httpStatus: number, why: string, callUuid?: string): void {
    const { remoteAddress } = this.#request;
    const carrier = this.#carrier.slice(0, 32);
    this.#refusals.tell({ carrier, httpStatus, why, remoteAddress, callUuid });
    this.#options.refused(httpStatus);
    this.#decision.reject(httpStatus, httpStatus === 503 ? RETRY_AFTER_SECONDS : undefined);
  }
}
