/**
 * Who gets in, of those that send plain requests: nobody can take what others need. Rooms stand apart for probes,
 * carriers' callbacks, requests and event streams, and of callbacks and requests once more for those whom control has
 * vouched for. In each a holder, which is a client's address or the workspace of a known key, has its share; bodies on
 * their way count by themselves. All of it counts what is open at one time and never how often somebody comes. It asks
 * nobody and judges nothing: that is control's, in its own order.
 */
import type { Logger } from 'pino';
import { addressName } from '../../contract/address-name.ts';
import type { Clock } from '../../contract/clock.ts';
import { keyHolderOf } from '../../contract/vouched.ts';
import type { HttpExchange } from '../socket-server/http-exchange.ts';
import { type Budget, BudgetLog } from './budget-log.ts';
import { KnownClients, keyNameOf } from './known-clients.ts';
import { type Lane, laneOf, waitsForBody } from './lanes.ts';
import { OpenBodies, type OpenBody } from './open-bodies.ts';
import { type Entry, Room } from './room.ts';

/** The operator's settings. */
export interface RequestBudgets {
  /** Of an address that is nobody's known: requests at once. */
  addressRequests: number;
  /** Of such an address: bodies on their way at once. */
  addressBodies: number;
  /** Of a workspace's known keys together: requests at once, and bodies on their way. */
  keyRequests: number;
  /** Until a body must be whole, or have grown. */
  bodyMs: number;
}

/**
 * `address`: 429, this holder has too much open. `room`: 503, all together have. `slow`: 408,
 * its body does not come on.
 */
export type RoomRefusal = 'address' | 'room' | 'slow';

const PROBES = { total: 256, each: 128 };
const STREAMS = { total: 2_048, each: 1_024 };
/** Each of the four: callbacks and requests, of strangers and of the known. */
const REQUESTS = 1_024;
const BODIES = 512;
/** Strangers' callbacks are worth a look at their signature each, and no more. */
const STRANGE_CALLBACKS = 256;

interface Tier {
  room: Room;
  bodies: OpenBodies | null;
}
type TierName = Lane | 'carrier' | 'key';

export class RequestRoom {
  readonly clock: Clock;
  readonly known: KnownClients;
  readonly log: BudgetLog;
  readonly streams = new Room(STREAMS.total, STREAMS.each, true);
  readonly tiers: Readonly<Record<TierName, Tier>>;

  constructor({ clock, log, budgets }: { clock: Clock; log: Logger; budgets: RequestBudgets }) {
    const { addressRequests, addressBodies, keyRequests, bodyMs } = budgets;
    const tier = (total: number, each: number, eachBodies: number, leavesFree = false): Tier => ({
      room: new Room(total, each, leavesFree),
      bodies: new OpenBodies({ clock, total: Math.min(BODIES, total), each: eachBodies, firstMs: bodyMs }),
    });
    this.clock = clock;
    this.known = new KnownClients(clock);
    this.log = new BudgetLog(clock, log);
    this.tiers = {
      probe: { room: new Room(PROBES.total, PROBES.each), bodies: null },
      callback: tier(STRANGE_CALLBACKS, STRANGE_CALLBACKS / 2, Math.min(addressBodies, STRANGE_CALLBACKS / 2)),
      // Few addresses bring the callbacks of all calls, but whoever owns a line can sign those of its own.
      carrier: tier(REQUESTS, REQUESTS / 2, BODIES / 2, true),
      request: tier(REQUESTS, addressRequests, addressBodies),
      key: tier(REQUESTS, keyRequests, keyRequests, true),
    };
  }

  placeOf(exchange: HttpExchange, hasBody: boolean): Place {
    return new Place(this, exchange, hasBody);
  }

  /** Requests that are worked on, and event streams, by lane. */
  inUse(): Record<TierName | 'stream', number> {
    const of = (name: TierName): number => this.tiers[name].room.inUse;
    return {
      probe: of('probe'),
      callback: of('callback'),
      carrier: of('carrier'),
      request: of('request'),
      key: of('key'),
      stream: this.streams.inUse,
    };
  }

  openBodies(): number {
    return Object.values(this.tiers).reduce((sum, { bodies }) => sum + (bodies?.count ?? 0), 0);
  }

  close(): void {
    this.log.close();
    for (const { bodies } of Object.values(this.tiers)) bodies?.close();
  }
}

/**
 * One request's place, from its first line to its answer's end. Whatever it holds, `leave`
 * gives back; leaving twice is fine.
 */
export class Place implements OpenBody {
  readonly holder: string;
  /** The body must be whole before the request is worked on. */
  readonly waitsForBody: boolean;
  readonly beganAtMs: number;
  bytes = 0;
  isPaused = false;
  /**
   * The body came too slowly, or too many are open: the request is to be refused. All that it held has been given back.
   */
  onCut: ((why: RoomRefusal) => void) | null = null;
  /** Control knows who asked. */
  isVouched = false;
  readonly #rooms: RequestRoom;
  readonly #tier: Tier;
  readonly #address: string;
  readonly #keyName: string | null;
  readonly #hasBody: boolean;
  #held: Room | null = null;

  constructor(rooms: RequestRoom, exchange: HttpExchange, hasBody: boolean) {
    const lane = laneOf(exchange, hasBody);
    const authorization = exchange.headers.find(([name]) => name === 'authorization')?.[1];
    this.#rooms = rooms;
    this.#hasBody = hasBody;
    this.#address = addressName(exchange.remoteAddress);
    this.#keyName = authorization === undefined || lane !== 'request' ? null : keyNameOf(authorization);
    const { known, tiers } = rooms;
    const keyHolder = this.#keyName === null ? null : known.holderOfKey(this.#keyName);
    if (keyHolder !== null) {
      this.#tier = tiers.key;
      this.holder = keyHolder;
    } else {
      this.#tier = lane === 'callback' && known.hasCarrier(this.#address) ? tiers.carrier : tiers[lane];
      this.holder = this.#address;
    }
    this.waitsForBody = hasBody && waitsForBody(lane, exchange.url);
    this.beganAtMs = rooms.clock.nowMs();
  }

  /** Null: it may go on. */
  begin(): RoomRefusal | null {
    if (!this.waitsForBody) {
      const refusal = this.#enter(this.#tier.room, 'requests');
      if (refusal !== null) return refusal;
    }
    const { bodies } = this.#tier;
    if (!this.#hasBody || bodies === null) return null;
    const refusal = this.#refusalOf(bodies.begin(this), 'bodies');
    if (refusal !== null) this.release();
    return refusal;
  }

  /** Null: it is worked on from now on. */
  bodyIsWhole(): RoomRefusal | null {
    this.#tier.bodies?.end(this);
    return this.waitsForBody ? this.#enter(this.#tier.room, 'requests') : null;
  }

  /** Its answer is an event stream, which may last as long as a call: it gives its place to the next request. */
  becomesStream(): RoomRefusal | null {
    this.release();
    return this.#enter(this.#rooms.streams, 'streams');
  }

  /** What control said of who asked. */
  judged(httpStatus: number, vouched: string): void {
    const { known } = this.#rooms;
    const keyHolder = keyHolderOf(vouched);
    this.isVouched = keyHolder !== null || vouched === 'carrier';
    if (vouched === 'carrier') known.vouchedCarrier(this.#address);
    else if (this.#keyName === null) return;
    else if (keyHolder !== null) known.vouchedKey(this.#keyName, keyHolder, this.#address);
    else if (httpStatus === 401) known.forgetKey(this.#keyName);
  }

  cut(why: 'slow' | 'outnumbered'): void {
    this.#rooms.log.bitten(why === 'slow' ? 'slow_body' : 'bodies', this.#address);
    this.release();
    this.onCut?.(why === 'slow' ? 'slow' : 'address');
  }

  release(): void {
    this.#tier.bodies?.end(this);
    this.#held?.release(this.holder);
    this.#held = null;
  }

  #enter(room: Room, budget: Budget): RoomRefusal | null {
    const entry = room.enter(this.holder);
    if (entry === 'entered') this.#held = room;
    return this.#refusalOf(entry, budget);
  }

  #refusalOf(entry: Entry, budget: Budget): RoomRefusal | null {
    if (entry === 'entered') return null;
    this.#rooms.log.bitten(entry === 'full' ? 'room' : budget, this.#address);
    return entry === 'full' ? 'room' : 'address';
  }
}
