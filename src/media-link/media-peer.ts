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
import type { CallEventBus } from '../calls/call-event-bus.ts';
import { RunIsFenced } from '../lifecycle/claimed-stream.ts';
import type { MediaRun } from '../nodes/media-runs.ts';
import type { RunKeeper } from '../nodes/run-keeper.ts';
import { isDatabaseAway } from '../store/database-away.ts';
import type { ClaimStream } from './claim.ts';
import type { Gate } from './gate.ts';
import { Inbox } from './inbox.ts';
import type { LiveMessage } from './live-batch.ts';
import { inMachineTime, inSharedTime } from './machine-time.ts';
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
  bus: Pick<CallEventBus, 'isFollowed' | 'lastFollower'>;
  /** A carrier's socket wants its call. */
  claimStream: ClaimStream;
  /** A browser's wants its session. */
  claimSession: ClaimStream;
  /** Of a recording that an earlier run of the process left unfinished. */
  recordingDisposition(stream: { callUuid: string; epoch: number }): Promise<RecordingDisposition>;
  /** By how much control's wall clock is ahead of this machine's, by which media goes. */
  aheadMs(): number;
  /** The leases of the processes. */
  runs: Pick<RunKeeper, 'register' | 'said' | 'gone'>;
  /** The process's figures for operators. */
  metricsReported?(mediaId: string, families: readonly MetricFamily[]): void;
  /** People who listen in. Absent: nobody may. */
  monitors?: {
    /** `run`: this peer, by which `runLost` names it. */
    claim(of: { runId: string; run: object }, token: string): Promise<MonitorAnswer>;
    ask(monitorId: string, action: MonitorAction): Promise<MonitorResult>;
    closed(report: MonitorReport): void;
    runLost(run: object): void;
  };
  /** The call does not wait for its tool any more. */
  toolCancelled?(toolCallId: string): void;
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
  /** By which its lease is known; the link's until it has greeted. */
  runId: string;
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
  readonly #carried = new Map<string, { saidAtMs: number }>();
  /** Its lease: null where there is none yet, or the database was away. */
  #registered: Promise<boolean> | null = null;
  /** It was given up, and has to greet as another run. */
  #isFenced = false;
  /** An earlier version's, which knows no `fenced` and greets without a run. */
  #isEarlier = false;
  readonly #linkRunId: string;
  /** What came before it said who it is: a run that control did not know repeats its claims before it greets. */
  readonly #claimsOfStranger: (() => void)[] = [];
  #databaseWasAway = false;

  /** `linkRunId`: what its connections begin with. */
  constructor(deps: MediaPeerDeps, linkRunId: string) {
    this.#deps = deps;
    this.#linkRunId = this.runId = linkRunId;
    this.#link = new ReliableLink({
      runId: deps.runId,
      capacity: LINK_CAPACITY_MESSAGES,
      mostLineBytes: MOST_LINE_BYTES.toMedia,
      tooLong: ({ type }, lineBytes) =>
        deps.log.error({ mediaId: this.mediaId, type, lineBytes }, 'a message to media is too long and is given up'),
      acknowledge: 'when_handled',
      write: (line) => this.#transport?.write(line),
      receive: (message, number) => this.#receive(inSharedTime(message, deps.aheadMs()), number),
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
      isFollowed: deps.bus.isFollowed,
      late: { lastFollower: deps.bus.lastFollower, tell: deps.messages.showEarly },
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
    if (this.#carried.size > 0) {
      this.#deps.log.warn(
        { mediaId: this.mediaId, calls: this.#carried.size },
        'a media process is lost with its calls',
      );
    }
    this.#carried.clear();
    // Should it come back after all, it is told that it was given up.
    this.#registered = null;
    this.#deps.runs.gone(this.runId);
    return true;
  }

  /** Its lease is gone for good. */
  fenced(): void {
    this.#isFenced = true;
    this.draining = true;
    this.#registered = null;
    this.send(this.#isEarlier ? { type: 'drain' } : { type: 'fenced', runId: this.runId });
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
        const { runId = this.#linkRunId } = message;
        this.#isEarlier = message.runId === undefined;
        this.socketServer = socketServer;
        this.activeCalls = carriedCalls.length;
        if (this.#isFenced && runId !== this.runId) this.#isFenced = this.draining = false;
        this.#registered = null;
        this.#joinAs({ runId, mediaId, capacityCalls });
        this.#deps.log.info(
          { runId, mediaId, capacityCalls, socketServer, calls: carriedCalls.length },
          'a media process serves',
        );
        this.#carries(carriedCalls);
        this.#register();
        return;
      }
      case 'load':
        this.#inbox.skip(number);
        this.activeCalls = message.activeCalls;
        this.draining = message.draining || this.#isFenced;
        this.capacityCalls = message.capacityCalls;
        this.#carries(message.calls);
        this.#deps.runs.said(this.#asRun());
        this.#register();
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
        answered.catch((error: unknown) => this.#failed(error, 'media was not told what became of a recording'));
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

  #carries(calls: readonly { callUuid: string }[]): void {
    const nowMs = this.#deps.clock.nowMs();
    for (const [callUuid, { saidAtMs }] of this.#carried) {
      if (nowMs - saidAtMs > FRESH_CLAIM_MS) this.#carried.delete(callUuid);
    }
    for (const { callUuid } of calls) this.#carried.set(callUuid, { saidAtMs: nowMs });
  }

  #joinAs({ runId, mediaId, capacityCalls }: { runId: string; mediaId: string; capacityCalls: number }): void {
    this.capacityCalls = capacityCalls;
    if (this.mediaId === mediaId && this.runId === runId) return;
    this.runId = runId;
    this.mediaId = mediaId;
    this.#deps.pool.join(this);
    for (const answer of this.#claimsOfStranger.splice(0)) answer();
  }

  #asRun(): MediaRun {
    const { runId, mediaId: slot, capacityCalls, activeCalls: liveCalls, draining: isDraining, room } = this;
    // Beyond any capacity where nothing is scarce.
    const moreCalls = room === null ? null : Math.min(capacityCalls, Math.floor(room.moreCalls));
    return { runId, slot, capacityCalls, liveCalls, moreCalls, isDraining };
  }

  /** Where it has no lease; asked again by each load message. */
  #register(): void {
    if (this.#registered !== null || this.#isFenced || this.mediaId === '') return;
    const registered = this.#deps.runs.register(this.#asRun()).then(
      (isAlive) => {
        if (!isAlive && this.#registered === registered) this.fenced();
        return isAlive;
      },
      (error: unknown) => {
        if (this.#registered === registered) this.#registered = null;
        this.#failed(error, 'the run of a media process was not registered');
        return false;
      },
    );
    this.#registered = registered;
  }

  #answerClaim(requestId: number, claim: ClaimRequest, number: number): void {
    const { claimStream, claimSession } = this.#deps;
    const { runId, mediaId } = this;
    const claimed = async (): Promise<ClaimAnswer> => {
      this.#register();
      if ((await this.#registered) !== true) throw new RunIsFenced(runId);
      return (claim.carrier === 'web' ? claimSession : claimStream)({ runId, mediaId }, claim);
    };
    claimed()
      .catch((error: unknown): ClaimAnswer => {
        this.#deps.log.error({ err: error, carrier: claim.carrier }, 'a media stream could not be claimed');
        return { ok: false, httpStatus: 503, why: 'control cannot look the call up now' };
      })
      .then((answer) => {
        if (answer.ok) {
          this.#carried.set(answer.setup.callUuid, { saidAtMs: this.#deps.clock.nowMs() });
        }
        this.#inbox.skip(number);
        const said = answer.ok ? { ...answer, setup: inMachineTime(answer.setup, this.#deps.aheadMs()) } : answer;
        this.send({ type: 'claim.answer', requestId, answer: said });
      })
      .catch((error: unknown) => this.#deps.log.error({ err: error }, 'a claim could not be answered'));
  }

  /** Media waits 3 s for it, and lets nobody in whose answer comes later. */
  #answerMonitor(requestId: number, token: string): void {
    const { monitors, log } = this.#deps;
    const refused: MonitorAnswer = { ok: false, code: 'service_away' };
    const answered = monitors?.claim({ runId: this.runId, run: this }, token) ?? Promise.resolve(refused);
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

  #failed(error: unknown, failure: string): void {
    if (isDatabaseAway(error)) this.#sayDatabaseAway(error);
    else this.#deps.log.error({ mediaId: this.mediaId, err: error }, failure);
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
