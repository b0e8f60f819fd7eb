/**
 * Clients that open much and say little, each from an address of its own choice on the loopback: what a hostile one
 * does to keep others out. Bounded: so many at once, so many in all, and a pause before one that was cut comes again.
 * Used by the bench and the test of sieges.
 */
import { connect, type Socket } from 'node:net';

/** What a connection sends at once; then, one piece each second, `drip` as long as it is open. */
export interface Weapon {
  name: string;
  opening: string;
  drip: string;
}

export interface SiegeOptions {
  port: number;
  weapons: readonly Weapon[];
  /** Loopback addresses to come from, in turn. */
  sources: readonly string[];
  atOnce: number;
  inAll: number;
}

export interface Siege {
  readonly opened: number;
  /** Standing at this moment. */
  readonly open: number;
  /** By status; `closed` of those that got no answer, `failed` of those that were never connected. */
  readonly ends: ReadonlyMap<string, number>;
  /** Resolves when every connection is closed. */
  stop(): Promise<void>;
}

/**
 * A port's queue in the kernel holds 512 that nobody has accepted yet (uSockets `bsd.c`), and what comes beyond waits
 * for seconds, honest clients too: that is the kernel's, and tells nothing of who holds the port.
 */
const FORMS_UP = { atOnce: 128, everyMs: 20 };
const COMES_AGAIN_MS = 500;
const DRIP_MS = 1_000;
const UUID = '0199f0a2-6c1e-7b7a-9a58-3f6b6f0a2c11';

const post = (path: string, more = ''): string =>
  `POST ${path} HTTP/1.1\r\nhost: siege\r\ncontent-type: application/json\r\ncontent-length: 400\r\n${more}\r\n{`;

export const WEAPONS = {
  session: { name: 'bodies of embed sessions', opening: post('/api/embed/session'), drip: ' ' },
  callback: { name: 'bodies of callbacks', opening: post(`/carriers/plivo/${UUID}/hangup`), drip: ' ' },
  signedCallback: {
    name: 'bodies of callbacks with a made-up signature',
    opening: post(`/carriers/plivo/${UUID}/answer`, 'x-plivo-signature-v3: x\r\nx-plivo-signature-v3-nonce: 1\r\n'),
    drip: ' ',
  },
  probe: { name: 'probes with a body', opening: post('/livez').replace('POST', 'GET'), drip: ' ' },
  placement: {
    name: 'bodies of placements with a wrong key',
    opening: post('/api/outbound-call', 'authorization: Bearer sv_live_wrong\r\n'),
    drip: ' ',
  },
  head: { name: 'half a head', opening: 'POST /api/embed/session HTTP/1.1\r\nhost: siege\r\n', drip: 'x: y\r\n' },
  nothing: { name: 'nothing at all', opening: '', drip: '' },
} as const satisfies Record<string, Weapon>;

export function besiege({ port, weapons, sources, atOnce, inAll }: SiegeOptions): Siege {
  const ends = new Map<string, number>();
  const sockets = new Set<Socket>();
  const timers = new Set<NodeJS.Timeout>();
  let opened = 0;
  let stopped = false;
  let whenEmpty = (): void => {};

  function open(): void {
    if (stopped || opened >= inAll) return;
    const turn = opened++;
    const weapon = weapons[turn % weapons.length]!;
    const socket = connect({ host: '127.0.0.1', port, localAddress: sources[turn % sources.length]! });
    sockets.add(socket);
    let end = 'failed';
    let drip: NodeJS.Timeout | null = null;
    socket.on('connect', () => {
      end = 'closed';
      if (weapon.opening !== '') socket.write(weapon.opening);
      if (weapon.drip !== '') drip = setInterval(() => socket.write(weapon.drip), DRIP_MS);
    });
    socket.on('data', (bytes) => {
      end = /^HTTP\/1\.1 (\d{3})/.exec(bytes.toString('latin1'))?.[1] ?? end;
      socket.end();
    });
    socket.on('error', () => {});
    socket.on('close', () => {
      if (drip !== null) clearInterval(drip);
      sockets.delete(socket);
      if (!stopped) ends.set(end, (ends.get(end) ?? 0) + 1);
      if (sockets.size === 0) whenEmpty();
      comeAgain(turn);
    });
  }

  function comeAgain(turn: number): void {
    if (stopped) return;
    // Not all at once: the honest clients live in this process too.
    openLater(COMES_AGAIN_MS * (1 + (turn % 97) / 97));
  }

  function openLater(afterMs: number): void {
    const timer = setTimeout(() => {
      timers.delete(timer);
      open();
    }, afterMs);
    timers.add(timer);
  }

  for (let at = 0; at < atOnce; at++) openLater(FORMS_UP.everyMs * Math.floor(at / FORMS_UP.atOnce));
  return {
    get opened() {
      return opened;
    },
    get open() {
      return sockets.size;
    },
    ends,
    stop() {
      stopped = true;
      for (const timer of timers) clearTimeout(timer);
      for (const socket of sockets) socket.destroy();
      return sockets.size === 0 ? Promise.resolve() : new Promise((resolve) => (whenEmpty = resolve));
    },
  };
}

/** So many loopback addresses, none of them 127.0.0.1, which honest clients use. */
export function loopbackAddresses(count: number, network = 1): string[] {
  return Array.from({ length: count }, (_one, at) => `127.0.${network + Math.floor(at / 250)}.${(at % 250) + 1}`);
}
