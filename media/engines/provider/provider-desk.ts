/**
 * A provider thread's work: takes the lines that pipeline threads open, finds the grant of each, hands it to its
 * service and ends it when the pipeline, the service or the call does. `media/threads/provider-thread.ts`
 * makes one. Must not let one line's failure be another's, nor say a word of a credential.
 */
import { createHash, randomUUID } from 'node:crypto';
import type { MessagePort, Transferable } from 'node:worker_threads';
import type { ConnectionGrant } from '../../contract/grant.ts';
import type { ProviderFault } from '../../contract/model.ts';
import type { FromProviderThread, ToProviderThread } from '../../contract/thread-messages.ts';
import type { UsageLine } from '../../contract/usage.ts';
import { ConnectionBreakers, type Fared } from './connection-breakers.ts';
import { ConnectionUse } from './connection-limits.ts';
import { GrantBook } from './grant-book.ts';
import { withoutSecrets } from './provider-error.ts';
import type { FromProvider, ToProvider } from './provider-messages.ts';
import type { LineHandler, ProviderService, ServiceDeps, ServiceKind, ServiceLine } from './provider-service.ts';

/** Of one pipeline thread; a call has a handful. */
const MOST_LINES_A_PORT = 4_000;
/** Said on a line while its grant and its service are awaited. */
const MOST_KEPT = 256;

export interface ProviderDeskDeps extends ServiceDeps {
  services: readonly ServiceKind[];
  /** Provider threads of the process: each has its share of a connection's limits. */
  threads: number;
  tell(message: FromProviderThread): void;
}

export class ProviderDesk {
  readonly #deps: ProviderDeskDeps;
  readonly #grants: GrantBook;
  readonly #uses: ConnectionUse;
  readonly #breakers: ConnectionBreakers;
  readonly #services = new Map<string, Promise<ProviderService>>();
  readonly #lines = new Set<DeskLine>();

  constructor(deps: ProviderDeskDeps) {
    this.#deps = deps;
    this.#grants = new GrantBook(deps.clock);
    this.#uses = new ConnectionUse(deps.clock, deps.threads);
    this.#breakers = new ConnectionBreakers(deps.clock);
  }

  /** From the I/O thread. */
  told(message: ToProviderThread<MessagePort>): void {
    if (message.type === 'client') this.#serve(message.port);
    else if (message.type === 'grant') this.#grants.give(message.callUuid, message.grants);
    else {
      this.#grants.revoke(message.callUuid);
      this.#breakers.forget(message.callUuid);
      for (const line of this.#lines) {
        if (line.callUuid === message.callUuid) line.cut('no_connection', 'the call is over');
      }
    }
  }

  #serve(port: MessagePort): void {
    const lines = new Map<number, DeskLine>();
    const heard = (message: ToProvider): void => {
      const line = lines.get(message.line);
      if (message.type === 'open') {
        const opened = new DeskLine(message, port, this.#deps, {
          over: (fared) => {
            lines.delete(message.line);
            this.#lines.delete(opened);
            if (opened.isCounted) this.#uses.end(opened.pool);
            if (opened.isJudged) this.#breakers.settled(opened.pool, fared);
          },
          tokens: (count) => this.#uses.tokens(opened.pool, count),
        });
        lines.set(message.line, opened);
        this.#lines.add(opened);
        if (lines.size > MOST_LINES_A_PORT) opened.end('failed', 'the provider thread has too many lines');
        else this.#open(opened, message);
      } else if (message.type === 'say') line?.heard(message.body);
      else line?.cut(null, '');
    };
    port.on('message', (messages: readonly ToProvider[]) => {
      for (const message of messages) heard(message);
    });
    // The pipeline thread is gone: its calls begin anew elsewhere.
    port.on('close', () => {
      for (const line of [...lines.values()]) line.cut(null, '');
    });
  }

  #open(line: DeskLine, { callUuid, connection, service, body }: Extract<ToProvider, { type: 'open' }>): void {
    line.forgetQuestion = this.#grants.find(callUuid, connection, (grant) => {
      if (grant === null) return line.end('no_connection', `the call has no connection '${connection}'`);
      const kind = this.#deps.services.find(({ name }) => name === service);
      if (kind === undefined) return line.end('failed', `there is no provider service '${service}'`);
      if (!kind.providers.includes(grant.provider)) {
        const wanted = kind.providers.join(' or ');
        return line.end('refused', `'${connection}' is a connection to ${grant.provider}, and this wants ${wanted}`);
      }
      line.granted(grant);
      const refusal = kind.isRequest ? this.#breakers.refusal(line.pool, callUuid) : null;
      if (refusal !== null) return line.end('failed', refusal);
      const limit = this.#uses.begin(line.pool, grant);
      if (limit !== null) return line.end('throttled', limit);
      line.isCounted = true;
      line.isJudged = kind.isRequest;
      this.#service(kind).then(
        (open) => line.serve(open, body),
        (error: unknown) => line.failed(error),
      );
    });
  }

  /** What could not be loaded is tried again by the next line. */
  #service(kind: ServiceKind): Promise<ProviderService> {
    const known = this.#services.get(kind.name);
    if (known !== undefined) return known;
    const loading = kind.load().then((create) => create(this.#deps));
    this.#services.set(kind.name, loading);
    loading.catch(() => this.#services.delete(kind.name));
    return loading;
  }
}

interface LineEnd {
  over(fared: Fared): void;
  /** That were used just now. */
  tokens(count: number): void;
}

class DeskLine implements ServiceLine {
  readonly callUuid: string;
  readonly connection: string;
  readonly settings: Readonly<Record<string, unknown>>;
  pool = '';
  /** Against the connection's limits. */
  isCounted = false;
  /** Its end tells how the connection fares. */
  isJudged = false;
  forgetQuestion = (): void => {};
  readonly #line: number;
  readonly #port: MessagePort;
  readonly #deps: ProviderDeskDeps;
  readonly #told: LineEnd;
  readonly #beganAtMs: number;
  #hasSpoken = false;
  #grant: ConnectionGrant | null = null;
  #handler: LineHandler | null = null;
  #kept: unknown[] = [];
  #isOver = false;

  constructor(
    { line, callUuid, connection, settings }: Extract<ToProvider, { type: 'open' }>,
    port: MessagePort,
    deps: ProviderDeskDeps,
    told: LineEnd,
  ) {
    this.#line = line;
    this.callUuid = callUuid;
    this.connection = connection;
    this.settings = settings;
    this.#port = port;
    this.#deps = deps;
    this.#told = told;
    this.#beganAtMs = deps.clock.nowMs();
  }

  get grant(): ConnectionGrant {
    return this.#grant!;
  }

  granted(grant: ConnectionGrant): void {
    this.#grant = grant;
    this.pool = poolOf(grant);
  }

  serve(open: ProviderService, body: unknown): void {
    if (this.#isOver) return;
    this.#guarded(() => {
      const handler = open(this, body);
      if (this.#isOver) return;
      this.#handler = handler;
      for (const said of this.#kept.splice(0)) handler.heard?.(said);
    });
  }

  heard(body: unknown): void {
    const handler = this.#handler;
    if (handler !== null) this.#guarded(() => handler.heard?.(body));
    else if (this.#kept.length < MOST_KEPT) this.#kept.push(body);
    else this.end('failed', 'too much was said before the line was open');
  }

  /** By the pipeline, which wants no word of it, or by who grants. */
  cut(fault: ProviderFault | null, message: string): void {
    const handler = this.#handler;
    if (fault === null) {
      const takenBackAfterMs = this.#deps.clock.nowMs() - this.#beganAtMs;
      this.#finish({ takenBackAfterMs, spoke: this.#hasSpoken });
    } else this.end(fault, message);
    if (handler !== null) this.#guarded(() => handler.closed(fault !== null));
  }

  failed(error: unknown): void {
    this.#deps.log.error({ err: error, callUuid: this.callUuid }, 'a provider service failed; its line ends');
    this.cut('failed', 'a fault of ours');
  }

  say(body: unknown, transfer: readonly Transferable[] = []): void {
    this.#hasSpoken = true;
    if (!this.#isOver) this.#port.postMessage({ type: 'say', line: this.#line, body } satisfies FromProvider, transfer);
  }

  end(fault: ProviderFault | null = null, message = ''): void {
    if (!this.#finish({ fault })) return;
    const safe = this.#grant === null ? message : withoutSecrets(message, this.#grant);
    this.#port.postMessage({ type: 'over', line: this.#line, fault, message: safe } satisfies FromProvider);
  }

  used(model: string, usage: readonly Pick<UsageLine, 'unit' | 'quantity' | 'speculative'>[]): void {
    const { name: connection, version, provider } = this.grant;
    const lines = usage
      .filter(({ quantity }) => quantity > 0)
      .map((one) => ({ usageId: randomUUID(), turnId: null, connection, version, provider, model, ...one }));
    const tokens = lines.filter(({ unit }) => unit.endsWith('_tokens'));
    if (tokens.length > 0) this.#told.tokens(tokens.reduce((sum, { quantity }) => sum + quantity, 0));
    if (lines.length > 0) this.#deps.tell({ type: 'usage', callUuid: this.callUuid, lines });
  }

  #finish(fared: Fared): boolean {
    if (this.#isOver) return false;
    this.#isOver = true;
    this.#handler = null;
    this.forgetQuestion();
    this.#told.over(fared);
    return true;
  }

  #guarded(run: () => void): void {
    try {
      run();
    } catch (error) {
      this.failed(error);
    }
  }
}

/** Who has the same key to the same place is the same customer of the provider. */
function poolOf({ name, version, provider, baseUrl, credentials, settings }: ConnectionGrant): string {
  return createHash('sha256')
    .update(JSON.stringify([name, version, provider, baseUrl, credentials, settings]))
    .digest('hex');
}
