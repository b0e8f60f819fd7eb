/**
 * The calls of one pipeline thread. Each is ticked on its own: what one throws ends that one with `internal_error`,
 * logged once, and the others never notice. The thread entry feeds it messages and wakes.
 */
import type { Logger } from 'pino';
import type { CallCommand } from '../contract/call-command.ts';
import { controlRefused } from '../contract/operator-control.ts';
import type { FromPipeline } from '../contract/thread-messages.ts';
import { FeedBoard, NO_SEAT } from '../rings/feed-board.ts';
import { Suspect } from '../rings/suspect.ts';
import type { Session } from './session.ts';

/** Of a call whose session is being made, which takes milliseconds. */
const MOST_KEPT_COMMANDS = 256;

interface RunningSession {
  session: Session;
  callNumber: number;
  /** For its input, since all were. */
  wasTicked: boolean;
}

export class SessionRegistry {
  readonly #logger: Logger;
  readonly #send: (message: FromPipeline) => void;
  readonly #suspect: Suspect;
  readonly #board: FeedBoard;
  readonly #running: RunningSession[] = [];
  /** Of each of them, on the board. In a list of their own: to see who was fed, no call is touched that was not. */
  readonly #seats: number[] = [];
  readonly #byCall = new Map<string, Session>();
  readonly #ended = new Set<string>();
  readonly #starting = new Map<string, { commands: CallCommand[] }>();

  /** `board`: says which calls were fed. */
  constructor(logger: Logger, send: (message: FromPipeline) => void, suspect = new Suspect(), board = new FeedBoard()) {
    this.#suspect = suspect;
    this.#board = board;
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

  /**
   * A session is being made: what is asked of it until `start`, or `gaveUp`, waits. The returned object tells this
   * start from a later one.
   */
  starting(callUuid: string): object {
    const start = { commands: [] };
    this.#starting.set(callUuid, start);
    return start;
  }

  /** False: it was stopped, or begun anew, since `start` was given. */
  isWanted(callUuid: string, start: object): boolean {
    return this.#starting.get(callUuid) === start;
  }

  /** The session could not be made: its call ends. */
  gaveUp(callUuid: string, error: string): void {
    const commands = this.#starting.get(callUuid)?.commands ?? [];
    this.#starting.delete(callUuid);
    for (const command of commands) this.#refuse(callUuid, command);
    this.send({ type: 'call.end', callUuid, reason: 'internal_error', disposition: null, error });
  }

  /** `seat`: on the board. */
  start(session: Session, seat = NO_SEAT): void {
    const { callUuid } = session;
    if (this.#byCall.has(callUuid)) return;
    const commands = this.#starting.get(callUuid)?.commands ?? [];
    this.#starting.delete(callUuid);
    this.#begin(session, seat);
    for (const command of commands) this.command(callUuid, command);
  }

  #begin(session: Session, seat: number): void {
    this.#byCall.set(session.callUuid, session);
    this.#running.push({ session, callNumber: Suspect.numberOf(session.callUuid), wasTicked: false });
    this.#seats.push(seat);
    this.#board.listen(seat, session.listens);
    try {
      session.start();
    } catch (error) {
      this.#failed(session, error);
    }
  }

  /**
   * After a ring of the bell only the calls that were fed; at each 20 ms `all` that were not ticked for that since the
   * last time.
   */
  tick(all: boolean): void {
    for (let i = this.#running.length - 1; i >= 0; i--) {
      const wasFed = this.#board.takeFed(this.#seats[i]!);
      if (!wasFed && !all) continue;
      const running = this.#running[i]!;
      const isDue = wasFed || !running.wasTicked;
      running.wasTicked = isDue && !all;
      if (!isDue) continue;
      this.#suspect.working(running.callNumber);
      try {
        running.session.tick();
      } catch (error) {
        this.#failed(running.session, error);
      }
    }
    this.#suspect.idle();
  }

  /** Kept while the session is being made; `control` is answered in any case. */
  command(callUuid: string, command: CallCommand): void {
    const starting = this.#starting.get(callUuid);
    const session = this.#byCall.get(callUuid);
    if (starting !== undefined) {
      if (starting.commands.length < MOST_KEPT_COMMANDS) starting.commands.push(command);
      else this.#refuse(callUuid, command);
    } else if (session === undefined || !this.#isRunning(session)) this.#refuse(callUuid, command);
    else this.#give(session, command);
  }

  /** Always answered with `call.closed`, also for a call that this thread does not know or that has failed. */
  stop(callUuid: string): void {
    for (const command of this.#starting.get(callUuid)?.commands ?? []) this.#refuse(callUuid, command);
    this.#starting.delete(callUuid);
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

  #give(session: Session, command: CallCommand): void {
    const { callUuid } = session;
    this.#suspect.working(Suspect.numberOf(callUuid));
    try {
      const outcome = session.command(command);
      if (command.type === 'control') {
        const { controlId } = command;
        this.#send({ type: 'call.controlled', callUuid, controlId, outcome: outcome ?? controlRefused('unsupported') });
      }
    } catch (error) {
      this.#failed(session, error);
      this.#refuse(callUuid, command);
    }
    this.#suspect.idle();
  }

  #refuse(callUuid: string, command: CallCommand): void {
    if (command.type !== 'control') return;
    const { controlId } = command;
    this.#send({ type: 'call.controlled', callUuid, controlId, outcome: controlRefused('not_here') });
  }

  #isRunning(session: Session): boolean {
    return this.#running.some((running) => running.session === session);
  }

  #failed(session: Session, error: unknown): void {
    const { callUuid } = session;
    this.#logger.error({ err: error, callUuid }, 'pipeline: a call failed and is ended');
    this.#forget(session);
    const message = error instanceof Error ? error.message : String(error);
    this.send({ type: 'call.end', callUuid, reason: 'internal_error', disposition: null, error: message });
  }

  #forget(session: Session): void {
    const at = this.#running.findIndex((running) => running.session === session);
    if (at < 0) return;
    this.#board.listen(this.#seats[at]!, false);
    this.#running.splice(at, 1);
    this.#seats.splice(at, 1);
  }
}
