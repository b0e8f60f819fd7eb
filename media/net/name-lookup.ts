/**
 * Asks for the addresses of a name that a user gave. The system's own look-up (getaddrinfo) keeps one of the process's
 * few threads for as long as a name server is silent, and all else that needs a thread waits behind it: files, keys,
 * other names. Therefore names go to DNS over sockets (c-ares), which hold no thread, and only what DNS does not know
 * (the hosts file, containers, search domains) goes to the system. Called by `pinned-dial.ts`.
 */
import { lookup, Resolver } from 'node:dns/promises';

/** All addresses of a name, in order of preference. Aborted: nobody waits for them, and the search ends. */
export type ResolveName = (hostname: string, signal: AbortSignal) => Promise<readonly string[]>;

export interface NameLookupOptions {
  /** `address:port` of the name servers. Default: those of the machine. */
  servers?: readonly string[];
  /** Default: getaddrinfo. */
  askSystem?: (hostname: string) => Promise<readonly string[]>;
  /** DNS's first try; the second may take twice as long. Default 800: those who ask give up after 2 s. */
  tryMs?: number;
}

const TRY_MS = 800;
const TRIES = 2;

/** DNS answers that there is none, or no name server runs at all and only the hosts file is left. */
const UNKNOWN_TO_DNS = new Set(['ENOTFOUND', 'ENODATA', 'ECONNREFUSED']);

const getaddrinfo = async (hostname: string): Promise<readonly string[]> =>
  (await lookup(hostname, { all: true, verbatim: true })).map((answer) => answer.address);

export function createNameLookup(options: NameLookupOptions = {}): ResolveName {
  const { servers, askSystem = getaddrinfo, tryMs = TRY_MS } = options;
  // A name of one label (localhost, a container) leads to no stranger's name server; those that may must not delay it.
  const oneLabel = createLine();
  const manyLabels = createLine();
  return async (hostname, signal) => {
    signal.throwIfAborted();
    if (!hostname.includes('.')) return oneLabel(() => askSystem(hostname), signal);
    try {
      return await askDns(hostname, servers, tryMs, signal);
    } catch (error) {
      signal.throwIfAborted();
      if (!UNKNOWN_TO_DNS.has(codeOf(error))) throw asSystemSays(error, hostname);
    }
    return manyLabels(() => askSystem(hostname), signal);
  };
}

/** The machine's name servers and its hosts file. */
export const systemResolver: ResolveName = createNameLookup();

/** Both families at once, IPv4 first. A channel of its own: what ends it ends nobody else's. */
async function askDns(
  hostname: string,
  servers: readonly string[] | undefined,
  tryMs: number,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const resolver = new Resolver({ timeout: tryMs, tries: TRIES });
  if (servers !== undefined) resolver.setServers(servers);
  const cancel = (): void => resolver.cancel();
  signal.addEventListener('abort', cancel, { once: true });
  const [v4, v6] = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
  signal.removeEventListener('abort', cancel);
  const addresses = [v4, v6].flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
  if (addresses.length > 0) return addresses;
  // One that says more than "there is none" decides: the name may well exist.
  const errors = [v4, v6].flatMap((answer) => (answer.status === 'rejected' ? [answer.reason as unknown] : []));
  throw errors.find((error) => !UNKNOWN_TO_DNS.has(codeOf(error))) ?? errors[0];
}

/** One at a time, in the order of asking. Who gives up leaves the line; a question already put keeps its place. */
function createLine() {
  let last: Promise<unknown> = Promise.resolve();
  return <T>(ask: () => Promise<T>, signal: AbortSignal): Promise<T> =>
    new Promise<T>((resolve, reject) => {
      const givenUp = (): void => reject(signal.reason);
      signal.addEventListener('abort', givenUp, { once: true });
      last = last
        .then(() => (signal.aborted ? undefined : ask().then(resolve, reject)))
        .then(() => signal.removeEventListener('abort', givenUp));
    });
}

/** In the words of getaddrinfo, which `failure-reason.ts` knows. */
function asSystemSays(error: unknown, hostname: string): Error {
  const code = codeOf(error) === 'EBADNAME' ? 'ENOTFOUND' : 'EAI_AGAIN';
  return Object.assign(new Error(`${hostname}: ${code}`, { cause: error }), { code });
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';
}
