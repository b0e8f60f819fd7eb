/**
 * What the calls of this process may use of their workspaces' connections. The I/O thread takes grants out of whatever
 * control says of a call, as soon as it is said, keeps them for as long as the call lasts, and tells them to the
 * provider threads and to nobody else. Composed in `media/main.ts`; `call-registry.ts` tells it when calls begin and
 * end.
 */
import type { Clock } from '../contract/clock.ts';
import type { ConnectionGrant } from '../contract/grant.ts';
import type { ToProviderThread } from '../contract/thread-messages.ts';

/** From the order to dial until somebody has answered, at most. */
const PREPARED_MS = 180_000;

type GrantMessage = Extract<ToProviderThread, { type: 'grant' | 'revoke' }>;

interface Held {
  readonly grants: readonly ConnectionGrant[];
  /** Of a call that has not begun. */
  forget: () => void;
}

export class CallGrants {
  readonly #clock: Clock;
  readonly #tell: (message: GrantMessage) => void;
  readonly #held = new Map<string, Held>();

  /** `tell` reaches all provider threads; the first grant starts them. */
  constructor(clock: Clock, tell: (message: GrantMessage) => void) {
    this.#clock = clock;
    this.#tell = tell;
  }

  /** The phone rings. What comes back holds names in place of grants. */
  prepared<Message extends { callUuid: string; grants?: readonly ConnectionGrant[] }>(message: Message) {
    const forget = this.#clock.after(PREPARED_MS, () => this.over(message.callUuid));
    return this.#take(message, forget);
  }

  /** A stream of the call was claimed. What comes back holds names in place of grants. */
  begun<Setup extends { callUuid: string; grants?: readonly ConnectionGrant[] }>(setup: Setup) {
    return this.#take(setup, () => {});
  }

  /** The call, or this process's part in it, is over. */
  over(callUuid: string): void {
    const held = this.#held.get(callUuid);
    if (held === undefined) return;
    held.forget();
    this.#held.delete(callUuid);
    this.#tell({ type: 'revoke', callUuid });
  }

  /** For a thread that is new. */
  all(): GrantMessage[] {
    return [...this.#held].map(([callUuid, { grants }]) => ({ type: 'grant', callUuid, grants }));
  }

  #take<Held extends { callUuid: string; grants?: readonly ConnectionGrant[] }>(
    from: Held,
    forget: () => void,
  ): Omit<Held, 'grants'> & { granted?: readonly string[] } {
    const { grants = [], ...rest } = from;
    const { callUuid } = from;
    this.#held.get(callUuid)?.forget();
    if (grants.length === 0) {
      forget();
      this.over(callUuid);
      return rest;
    }
    this.#held.set(callUuid, { grants, forget });
    this.#tell({ type: 'grant', callUuid, grants });
    return { ...rest, granted: grants.map(({ name }) => name) };
  }
}
