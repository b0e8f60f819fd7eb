/**
 * One run of one media process, from its first connection to its replacement by a newer run. Its reliable link outlives
 * the socket: a reconnect goes on where the last one stopped. Made by the link server at a run's first line.
 */
import type { Logger } from 'pino';
import type { Clock } from '../../media/contract/clock.ts';
import { MOST_LINE_BYTES, ReliableLink } from '../../media/contract/link.ts';
import type {
  ClaimAnswer,
  ClaimRequest,
  RecordingDisposition,
  ToControl,
  ToMedia,
} from '../../media/contract/link-messages.ts';
import type { MetricFamily } from '../../media/contract/metrics.ts';
import type { MonitorAction, MonitorAnswer, MonitorReport, MonitorResult } from '../../media/contract/monitor.ts';
import { isDatabaseAway } from '../store/database-away.ts';
import type { ClaimStream } from './claim.ts';
import type { Gate } from './gate.ts';
import { Inbox } from './inbox.ts';
import { LeaseBook } from './lease-book.ts';
import type { NamedCall } from './leases.ts';
import type { LiveMessage } from './live-batch.ts';
import { type CallMessage, isLive, type MediaMessages } from './media-messages.ts';
import type { MediaMember, MediaPool } from './media-pool.ts';

export interface MediaPeerDeps {
  clock: Clock;
  log: Logger;
  /** This run of control. */
  runId: string;
  gate: Gate;
  pool: MediaPool;
  messages: MediaMessages;
  /** See `CallEventBus`. */
  isFollowed(callUuid: string): boolean;
  /** A carrier's socket wants its call. */
  claimStream: ClaimStream;
  /** A browser's wants its session. */
  claimSession: ClaimStream;
  /** Of a recording that an earlier run of the process left unfinished. */
  recordingDisposition(stream: { callUuid: string; epoch: number }): Promise<RecordingDisposition>;
  /** They last from then on. */
  renewLeases(mediaId: string, calls: readonly NamedCall[], nowEpochMs: number): Promise<void>;
  /** The process is gone: the leases of what it carried end now. */
  releaseLeases(mediaId: string, calls: readonly { callUuid: string; epoch: number }[]): Promise<void>;
  /** The process's figures for operators. */
  metricsReported?(mediaId: string, families: readonly MetricFamily[]): void;
  /** People who listen in. Absent: nobody may. */
  monitors?: {
    /** `run`: this peer, by which `runLost` names it. */
    claim(of: { mediaId: string; run: object }, token: string): Promise<MonitorAnswer>;
    ask(monitorId: string, action: MonitorAction): Promise<MonitorResult>;
    closed(report: MonitorReport): void;
    runLost(run: object): void;
  };
  /** The call does not wait for its tool any more. */
  toolCancelled?(toolCallId: string): void;
  /** A new run of this process: the calls of the one before, other than these, have no owner any more. */
  orphanOthers(mediaId: string, callUuids: readonly string[]): Promise<void>;
}

/** A socket, as far as a peer needs it. */
export interface PeerTransport {
  write(line: string): void;
  setPaused(paused: boolean): void;
}

/** A stream that was granted so lately may be missing in what a process says of itself. */
const FRESH_CLAIM_MS = 5_000;
const LINK_CAPACITY_MESSAGES = 10_000;

export class MediaPeer implements MediaMember {
  mediaId = '';
  connected = false;
  activeCalls = 0;
  capacityCalls = 0;
  draining = false;
  room: MediaMember['room'] = null;
  socketServer: 'uws' | 'ws' | null = null;

  readonly #deps: MediaPeerDeps;
  readonly #link: ReliableLink<ToMedia, ToControl>;
  readonly #inbox: Inbox<CallMessage, LiveMessage>;
  #transport: PeerTransport | null = null;
  /** The calls that this run carries, by its own word or by a claim that it won, and when that was. */
  readonly #carried = new Map<string, { epoch: number; saidAtMs: number }>();
  #leases: LeaseBook;
  #renewing = false;
  /** Since it greeted: calls in its name that it does not carry are another run's, which is dead. */
  #orphansDue = false;
  /** What came before it said who it is: a run that control did not know repeats its claims before it greets. */
  readonly #claimsOfStranger: (() => void)[] = [];
  #databaseWasAway = false;

  constructor(deps: MediaPeerDeps) {
    this.#deps = deps;
    this.#leases = new LeaseBook(deps.clock);
    this.#link = new ReliableLink({
      runId: deps.runId,
      capacity: LINK_CAPACITY_MESSAGES,
      mostLineBytes: MOST_LINE_BYTES.toMedia,
      tooLong: ({ type }, lineBytes) =>
        deps.log.error({ mediaId: this.mediaId, type, lineBytes }, 'a message to media is too long and is given up'),
      acknowledge: 'when_handled',
      write: (line) => this.#transport?.write(line),
      receive: (message, number) => this.#receive(message, number),
    });
    this.#inbox = new Inbox({
      clock: deps.clock,
      gate: deps.gate,
      handle: deps.messages.handle,
      handleTogether: deps.messages.handleTogether,
      written: () => {
        this.#databaseWasAway = false;
      },
      isBatchable: isLive,
      isFollowed: deps.isFollowed,
      shouldRetry: (error, messages) => this.#shouldRetry(error, messages),
      handledUpTo: (number) => this.#link.handled(number),
      setPaused: (paused) => this.#transport?.setPaused(paused),
    });
  }

  get unhandledCount(): number {
    return this.#inbox.unhandledCount;
  }

  connect(transport: PeerTransport): void {
    this.#transport = transport;
    this.connected = true;
    this.#inbox.setHurried(false);
    if (this.#inbox.isPaused) transport.setPaused(true);
    this.#link.connected();
  }

  /** Only the transport in use can take the peer down: a reconnect may come before the old socket's end is seen. */
  disconnect(transport: PeerTransport): void {
    if (this.#transport !== transport) return;
    this.#transport = null;
    this.connected = false;
    // Its calls may go on elsewhere, where their last words end.
    this.#inbox.setHurried(true);
    this.#link.disconnected();
  }

  /** Throws on text that is no line of the protocol. */
  receiveLine(line: string): void {
    this.#link.receiveLine(line);
  }

  ackNow(): void {
    this.#link.ackNow();
  }

  send(message: ToMedia): boolean {
    return this.#link.send(message);
  }

  mayStillSpeak(callUuid: string): boolean {
    return (this.connected && this.#carried.has(callUuid)) || this.hasUnwritten(callUuid);
  }

  /** Something that it has said about the call is not written yet; as somebody asks, it is now. */
  hasUnwritten(callUuid: string): boolean {
    if (!this.#inbox.holds(callUuid)) return false;
    this.#inbox.hurry();
    return true;
  }

  /** What it has said is written now. */
  hurry(): void {
    this.#inbox.hurry();
  }

  /** It has not come back: what it carried has no owner any more. False: what it said last is not written yet. */
  lost(): boolean {
    this.#deps.monitors?.runLost(this);
    if (this.unhandledCount > 0) return false;
    const calls = [...this.#carried].map(([callUuid, { epoch }]) => ({ callUuid, epoch }));
    this.#carried.clear();
    // Should it come back after all, it gets them again at its first word.
    this.#leases = new LeaseBook(this.#deps.clock);
    if (calls.length > 0) {
      this.#deps.log.warn({ mediaId: this.mediaId, calls: calls.length }, 'a media process is lost with its calls');
      this.#try(this.#deps.releaseLeases(this.mediaId, calls), 'leases of a lost process were not ended');
    }
    return true;
  }

  close(): void {
    this.#inbox.close();
    this.#deps.pool.leave(this);
  }

  #receive(message: ToControl, number: number): void {
    switch (message.type) {
      case 'hello': {
        this.#inbox.skip(number);
        const { mediaId, capacityCalls, socketServer, liveCalls: carriedCalls } = message;
        this.socketServer = socketServer;
        this.activeCalls = carriedCalls.length;
        this.#joinAs(mediaId, capacityCalls);
        this.#deps.log.info(
          { mediaId, capacityCalls, socketServer, calls: carriedCalls.length },
          'a media process serves',
        );
        this.#orphansDue = true;
        this.#leases = new LeaseBook(this.#deps.clock);
        this.#carries(carriedCalls);
        return;
      }
      case 'load':
        this.#inbox.skip(number);
        this.activeCalls = message.activeCalls;
        this.draining = message.draining;
        this.#joinAs(message.mediaId, message.capacityCalls);
        this.#carries(message.calls);
        this.#renew(message.calls);
        this.#endOrphans(message.calls);
        return;
      case 'room':
        this.#inbox.skip(number);
        this.room = message;
        return;
      case 'metrics':
        this.#inbox.skip(number);
        if (this.mediaId !== '') this.#deps.metricsReported?.(this.mediaId, message.families);
        return;
      case 'controlled':
        this.#inbox.skip(number);
        this.#deps.pool.controlled(message.controlId, message.outcome);
        return;
      case 'tool.cancel':
        // At once, and before what waits for the database: it has to reach the request.
        this.#inbox.skip(number);
        this.#deps.toolCancelled?.(message.toolCallId);
        return;
      case 'monitor.claim':
        this.#inbox.skip(number);
        this.#answerMonitor(message.requestId, message.token);
        return;
      case 'monitor.ask':
        this.#inbox.skip(number);
        this.#askOfMonitor(message);
        return;
      case 'monitor.closed':
        this.#inbox.skip(number);
        this.#deps.monitors?.closed(message.report);
        return;
      case 'recording.key': {
        this.#inbox.skip(number);
        const { stream } = message;
        // Media asks again for what stays unanswered.
        const answered = this.#deps
          .recordingDisposition(stream)
          .then((disposition) => void this.send({ type: 'recording.key', stream, fate: disposition }));
        this.#try(answered, 'media was not told what became of a recording');
        return;
      }
      case 'claim': {
        const answer = (): void => this.#answerClaim(message.requestId, message.claim, number);
        if (this.mediaId === '') this.#claimsOfStranger.push(answer);
        else answer();
        return;
      }
      default:
        // Its last word, which the inbox holds until it is written.
        if (message.type === 'media.stopped') this.#carried.delete(message.callUuid);
        this.#inbox.push(number, message.callUuid, message);
    }
  }

  #carries(calls: readonly { callUuid: string; epoch: number }[]): void {
    const nowMs = this.#deps.clock.nowMs();
    for (const [callUuid, { saidAtMs }] of this.#carried) {
      if (nowMs - saidAtMs > FRESH_CLAIM_MS) this.#carried.delete(callUuid);
    }
    for (const { callUuid, epoch } of calls) this.#carried.set(callUuid, { epoch, saidAtMs: nowMs });
  }

  #joinAs(mediaId: string, capacityCalls: number): void {
    this.capacityCalls = capacityCalls;
    if (this.mediaId === mediaId) return;
    this.mediaId = mediaId;
    this.#deps.pool.join(this);
    for (const answer of this.#claimsOfStranger.splice(0)) answer();
  }

  #endOrphans(carriedCalls: readonly { callUuid: string }[]): void {
    if (!this.#orphansDue) return;
    this.#orphansDue = false;
    // The end of a call may still lie in the inbox: that call has no owner because it is over.
    const known = [...carriedCalls.map(({ callUuid }) => callUuid), ...this.#inbox.heldCalls()];
    this.#try(this.#deps.orphanOthers(this.mediaId, known), 'calls of an older run were not marked');
  }

  /** One that fails, or waits for the database still, is made up for by the next load message. */
  #renew(calls: readonly NamedCall[]): void {
    if (this.#renewing) return;
    const leases = this.#leases;
    const due = leases.due(calls);
    if (due.length === 0) return;
    this.#renewing = true;
    const nowEpochMs = this.#deps.clock.epochMs();
    const renewed = this.#deps
      .renewLeases(this.mediaId, due, nowEpochMs)
      .then(() => leases.written(due, nowEpochMs))
      .finally(() => {
        this.#renewing = false;
      });
    this.#try(renewed, 'leases were not renewed');
  }

  #answerClaim(requestId: number, claim: ClaimRequest, number: number): void {
    const { claimStream, claimSession } = this.#deps;
    const leases = this.#leases;
    const beganEpochMs = this.#deps.clock.epochMs();
    (claim.carrier === 'web' ? claimSession : claimStream)(this.mediaId, claim)
      .catch((error: unknown): ClaimAnswer => {
        this.#deps.log.error({ err: error, carrier: claim.carrier }, 'a media stream could not be claimed');
        return { ok: false, httpStatus: 503, why: 'control cannot look the call up now' };
      })
      .then((answer) => {
        if (answer.ok) {
          const { callUuid, epoch } = answer.setup;
          this.#carried.set(callUuid, { epoch, saidAtMs: this.#deps.clock.nowMs() });
          leases.written([{ callUuid, epoch }], beganEpochMs);
        }
        this.#inbox.skip(number);
        this.send({ type: 'claim.answer', requestId, answer });
      })
      .catch((error: unknown) => this.#deps.log.error({ err: error }, 'a claim could not be answered'));
  }

  /** Media waits 3 s for it, and lets nobody in whose answer comes later. */
  #answerMonitor(requestId: number, token: string): void {
    const { monitors, log } = this.#deps;
    const refused: MonitorAnswer = { ok: false, code: 'service_away' };
    const answered = monitors?.claim({ mediaId: this.mediaId, run: this }, token) ?? Promise.resolve(refused);
    void answered
      .catch((error: unknown) => {
        log.warn({ mediaId: this.mediaId, err: error }, 'a listener could not be let in');
        return refused;
      })
      .then((answer) => this.send({ type: 'monitor.answer', requestId, answer }));
  }

  /** Not in the order of what media says of the call: the call's own answer comes the same way. */
  #askOfMonitor({ requestId, monitorId, action }: Extract<ToControl, { type: 'monitor.ask' }>): void {
    const { monitors, log } = this.#deps;
    void (monitors?.ask(monitorId, action) ?? Promise.resolve<MonitorResult>('not_allowed'))
      .catch((error: unknown): MonitorResult => {
        log.warn({ mediaId: this.mediaId, action: action.type, err: error }, 'what a listener asked of a call failed');
        return 'unanswered';
      })
      .then((result) => this.send({ type: 'monitor.asked', requestId, result }));
  }

  #try(work: Promise<void>, failure: string): void {
    work.catch((error: unknown) => {
      if (isDatabaseAway(error)) this.#sayDatabaseAway(error);
      else this.#deps.log.error({ mediaId: this.mediaId, err: error }, failure);
    });
  }

  #shouldRetry(error: unknown, messages: readonly CallMessage[]): boolean {
    if (isDatabaseAway(error)) {
      this.#sayDatabaseAway(error);
      return true;
    }
    // Each is tried by itself.
    if (messages.length > 1) return false;
    const { callUuid, type } = messages[0]!;
    this.#deps.log.error({ callUuid, type, err: error }, 'a media message cannot be stored');
    return false;
  }

  #sayDatabaseAway(error: unknown): void {
    if (this.#databaseWasAway) return;
    this.#databaseWasAway = true;
    this.#deps.log.warn({ mediaId: this.mediaId, err: error }, 'what media says waits for the database');
  }
}
