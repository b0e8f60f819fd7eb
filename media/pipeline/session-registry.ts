/**
 * The calls of one pipeline thread. Each is ticked on its own: what one throws ends that one with `internal_error`, logged once, and the
 * others never notice. The thread entry feeds it messages and wakes.
 */
import type { Logger } from 'pino';
import { type ControlAction, type ControlOutcome, controlRefused } from '../contract/live-control.ts';
import type { SessionCommand } from '../contract/session-command.ts';
import type { FromPipeline } from '../contract/thread-messages.ts';
import type { ToolAnswer } from '../contract/tools.ts';
import { Suspect } from '../rings/suspect.ts';
import type { Session } from './session.ts';

interface LiveSession {
  session: Session;
  callNumber: number;
  /** For its input, since all were. */
  wasTicked: boolean;
}

export class SessionRegistry {
  readonly #logger: Logger;
  readonly #send: (message: FromPipeline) => void;
  readonly #suspect: Suspect;
  readonly #live: LiveSession[] = [];
  readonly #byCall = new Map<string, Session>();
  readonly #ended = new Set<string>();

  constructor(logger: Logger, send: (message: FromPipeline) => void, suspect = new Suspect()) {
    this.#suspect = suspect;
    this.#logger = logger;
    this.#send = send;
  }

  get calls(): number {
    return this.#byCall.size;
  }

  /** What sessions send through: a call ends once, even if it fails after its end. */
  send(message: FromPipeline): void {
    if (message.type === 'call.end') {
      if (this.#ended.has(message.callUuid)) return;
      this.#ended.add(message.callUuid);
    }
    this.#send(message);
  }

  start(session: Session): void {
    if (this.#byCall.has(session.callUuid)) return;
    this.#byCall.set(session.callUuid, session);
    this.#live.push({ session, callNumber: Suspect.numberOf(session.callUuid), wasTicked: false });
    try {
      session.start();
    } catch (error) {
      this.#failed(session, error);
    }
  }

  /** After a ring of the bell only the calls that have input; at each 20 ms `all` that were not ticked for theirs since the last time. */
  tick(all: boolean): void {
    for (let i = this.#live.length - 1; i >= 0; i--) {
      const live = this.#live[i]!;
      const isDue = live.session.hasInput || (all && !live.wasTicked);
      live.wasTicked = isDue && !all;
      if (!isDue) continue;
      this.#suspect.working(live.callNumber);
      try {
        live.session.tick();
      } catch (error) {
        this.#failed(live.session, error);
      }
    }
    this.#suspect.idle();
  }

  pressed(callUuid: string, key: string): void {
    this.#tell(callUuid, (session) => session.pressed(key));
  }

  toolAnswered(callUuid: string, toolCallId: string, answer: ToolAnswer): void {
    this.#tell(callUuid, (session) => session.toolAnswered(toolCallId, answer));
  }

  /** Refused for a call that this thread does not know, or whose session has failed. */
  control(callUuid: string, action: ControlAction): ControlOutcome {
    const session = this.#byCall.get(callUuid);
    if (session === undefined || !this.#isLive(session)) return controlRefused('not_here');
    try {
      return session.control(action);
    } catch (error) {
      this.#failed(session, error);
      return controlRefused('not_here');
    }
  }

  command(callUuid: string, command: SessionCommand): void {
    this.#tell(callUuid, (session) => session.command(command));
  }

  /** Always answered with `call.closed`, also for a call that this thread does not know or that has failed. */
  stop(callUuid: string): void {
    const session = this.#byCall.get(callUuid);
    if (session !== undefined) {
      this.#byCall.delete(callUuid);
      this.#forget(session);
      try {
        session.stop();
      } catch (error) {
        this.#logger.error({ err: error, callUuid }, 'pipeline: a call could not be closed in order');
      }
    }
    this.#ended.delete(callUuid);
    this.#send({ type: 'call.closed', callUuid });
  }

  #tell(callUuid: string, what: (session: Session) => void): void {
    const session = this.#byCall.get(callUuid);
    if (session === undefined || !this.#isLive(session)) return;
    this.#suspect.working(Suspect.numberOf(callUuid));
    try {
      what(session);
    } catch (error) {
      this.#failed(session, error);
    }
    this.#suspect.idle();
  }

  #isLive(session: Session): boolean {
    return this.#live.some((live) => live.session === session);
  }

  #failed(session: Session, error: unknown): void {
    const { callUuid } = session;
    this.#logger.error({ err: error, callUuid }, 'pipeline: a call failed and is ended');
    this.#forget(session);
    const message = error instanceof Error ? error.message : String(error);
    this.send({ type: 'call.end', callUuid, reason: 'internal_error', disposition: null, error: message });
  }

  #forget(session: Session): void {
    const at = this.#live.findIndex((live) => live.session === session);
    if (at >= 0) this.#live.splice(at, 1);
  }
}
