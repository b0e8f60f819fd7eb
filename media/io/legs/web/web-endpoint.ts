/**
 * `/ws/live`: gives each socket its session. A resume token of a session that this process has is settled here; any
 * other token is control's to judge. Who is refused is let in, told why in one message and shut out, because a page
 * cannot read a failed handshake. Tokens are secrets: they are in no log line.
 */
import type { Logger } from 'pino';
import type { Clock } from '../../../contract/clock.ts';
import { LIVE_CLOSE_CODES, type LiveErrorCode, type LiveUpgradeRequest } from '../../../contract/live-session.ts';
import type { CallRegistry } from '../../call-registry.ts';
import { type ClaimLegDeps, claimLeg } from '../../claim-leg.ts';
import { RefusalLog } from '../../refusal-log.ts';
import type { SocketRoute, UpgradeDecision, UpgradeRequest } from '../../socket-server/media-socket-server.ts';
import { refuse } from './refusal.ts';
import { callOfResumeToken } from './resume-token.ts';
import { WebLeg } from './web-leg.ts';

/** Other sockets of browsers may live beside it. */
const PREFIX = '/ws/';
const PATH = '/ws/live';
const LONGEST_TOKEN = 4096;
const MOST_TEXT_BYTES = 64 * 1024;
const MOST_SOUND_BYTES = 8 * 1024;

const LIMITS = {
  maxMessageBytes: MOST_TEXT_BYTES,
  maxBufferedMessageBytes: 256 * 1024,
  // Above what `web-line.ts` calls too slow.
  maxBackpressureBytes: 2 * 1024 * 1024,
  idleTimeoutSeconds: 32,
  pingsItself: true,
};

export interface WebEndpointOptions extends ClaimLegDeps {
  registry: CallRegistry;
  log: Logger;
  clock: Clock;
  /** Counts. */
  refused(httpStatus: number): void;
}

/** What a socket carries. */
export type WebSocketData = { leg: WebLeg } | { refusal: LiveErrorCode };

export function createWebEndpoint(options: WebEndpointOptions): SocketRoute<WebSocketData> {
  const refusals = new RefusalLog(options.clock, 'web socket', (fields, text) => options.log.info(fields, text));
  return {
    pathPrefix: PREFIX,
    limits: LIMITS,
    upgrade(request, decision) {
      if (request.path !== PATH) {
        decision.reject(404);
        return;
      }
      new WebUpgrade(options, refusals, request, decision).run().catch((error: unknown) => {
        options.log.error({ err: error }, 'a fault of ours in an upgrade');
        decision.reject(500);
      });
    },
    open(socket) {
      const { data } = socket;
      if ('leg' in data) data.leg.attach(socket);
      else refuse(socket, data.refusal);
    },
    message(socket, message, isBinary) {
      const { data } = socket;
      if (!('leg' in data)) return;
      if (isBinary && message.length > MOST_SOUND_BYTES) refuse(socket, 'message_too_big');
      else {
        try {
          data.leg.message(socket, message, isBinary);
        } catch (error) {
          data.leg.failed(error);
        }
      }
    },
    drained() {},
    closed(socket, code) {
      if ('leg' in socket.data) socket.data.leg.socketClosed(socket, code);
    },
  };
}

class WebUpgrade {
  readonly #options: WebEndpointOptions;
  readonly #refusals: RefusalLog;
  readonly #request: UpgradeRequest;
  readonly #decision: UpgradeDecision<WebSocketData>;
  readonly #token: string;
  readonly #upgradeRequest: LiveUpgradeRequest;

  constructor(
    options: WebEndpointOptions,
    refusals: RefusalLog,
    request: UpgradeRequest,
    decision: UpgradeDecision<WebSocketData>,
  ) {
    this.#options = options;
    this.#refusals = refusals;
    this.#request = request;
    this.#decision = decision;
    const query = new URLSearchParams(request.query);
    this.#token = onlyOne(query, 'token');
    this.#upgradeRequest = {
      parentOrigin: onlyOne(query, 'parentOrigin'),
      origin: request.headers['origin'] ?? null,
      remoteAddress: request.remoteAddress,
    };
  }

  async run(): Promise<void> {
    const { registry } = this.#options;
    if (this.#token === '' || this.#token.length > LONGEST_TOKEN) {
      this.#refuse('token_invalid', 'the query holds no token');
      return;
    }
    const here = callOfResumeToken(this.#token);
    const leg = here === null ? undefined : registry.find(here)?.leg;
    if (leg instanceof WebLeg && !leg.isOver && leg.acceptsResume(this.#token)) this.#resumeHere(leg, here ?? '');
    else if (registry.isDraining || !registry.hasRoom()) this.#refuse('draining', 'draining, or at capacity');
    else await this.#claim();
  }

  #resumeHere(leg: WebLeg, callUuid: string): void {
    const { registry } = this.#options;
    const origin = registry.find(callUuid)?.setup.web?.origin;
    const { parentOrigin, origin: header } = this.#upgradeRequest;
    if (parentOrigin !== origin || (header !== null && header !== origin)) {
      this.#refuse('origin_not_allowed', 'a resume from another origin', callUuid);
    } else this.#decision.accept({ leg });
  }

  async #claim(): Promise<void> {
    const { registry, log } = this.#options;
    const host = this.#request.headers['host'] ?? '';
    const request = { carrier: 'web', token: this.#token, url: PATH, host, headers: {}, live: this.#upgradeRequest };
    const claimed = await claimLeg(this.#options, request, ({ web, ...setup }) => {
      if (web === undefined) throw new Error('control granted a web claim without a web session');
      return registry.carryWeb({ ...setup, web });
    });
    if (claimed.leg === null) {
      this.#refuse(claimed.refusal.code ?? 'server', claimed.refusal.why, claimed.callUuid);
      return;
    }
    const { leg, setup } = claimed;
    log.debug({ callUuid: setup.callUuid, resumed: setup.web?.resumed !== null }, 'web session claimed');
    if (!this.#decision.accept({ leg })) leg.socketNeverOpened();
  }

  #refuse(code: LiveErrorCode, why: string, callUuid?: string): void {
    const { remoteAddress } = this.#request;
    this.#refusals.tell({ code, why, remoteAddress, callUuid });
    this.#options.refused(LIVE_CLOSE_CODES[code]);
    this.#decision.accept({ refusal: code });
  }
}

/** Empty when it is missing, or there twice: nobody then knows which is meant. */
function onlyOne(query: URLSearchParams, name: string): string {
  const values = query.getAll(name);
  return values.length === 1 ? (values[0] ?? '') : '';
}
