/**
 * The media processes as control knows them: who is connected, how busy, who owns which call. Placement asks it for
 * room, effects send commands through it. Holds nothing that must survive a restart.
 */
import { randomUUID } from 'node:crypto';
import type { Logger } from 'pino';
import type { AgentDefinition } from '../../media/contract/agent-definition.ts';
import type { LegFormat } from '../../media/contract/audio-format.ts';
import { formatAtCarrier } from '../../media/contract/carriers.ts';
import type { CallClips } from '../../media/contract/clip.ts';
import type { Clock } from '../../media/contract/clock.ts';
import type { ConnectionGrant } from '../../media/contract/grant.ts';
import { ALWAYS_CALLS, type ToMedia } from '../../media/contract/link-messages.ts';
import type { ControlAction, ControlOutcome } from '../../media/contract/operator-control.ts';
import type { ToolAnswer } from '../../media/contract/tools.ts';
import type { CallRow } from '../calls/call-row.ts';
import { createAgentReader, placeholdersOf } from '../calls/call-setup.ts';
import { connectionsNamedIn } from '../connections/connection-uses.ts';
import type { MediaCommands } from '../lifecycle/side-effects.ts';
import type { CallRoomSource } from '../limits/call-room.ts';
import type { Database } from '../store/database.ts';
import type { RemoteMedia } from './remote-media.ts';

/** What a page hears by default, and what Opus is made of. */
const WEB_VOICE_FORMATS: readonly LegFormat[] = [
  { codec: 'pcm_s16le', rateHz: 24000 },
  { codec: 'pcm_s16le', rateHz: 16000 },
];
/** Whose name is not known yet; a greeting with more in it than the agent's own defaults is rendered when it is. */
const UNKNOWN_VISITOR = {
  callUuid: '',
  toNumber: '',
  fromNumber: '',
  direction: 'inbound',
  metadata: {},
  name: '',
  leadValues: null,
} as const;

export interface MediaMember {
  /** As registered; another one after it was given up. */
  runId: string;
  mediaId: string;
  connected: boolean;
  activeCalls: number;
  capacityCalls: number;
  draining: boolean;
  /**
   * What it has said of how many more calls it can serve. Null: nothing yet, as for a quarter of a second after it
   * came. Until then it counts for what any process takes however late it is, and no more: one that is connected and
   * silent is no reason to let everybody in.
   */
  room: { moreCalls: number; alwaysCalls?: number; carriesCalls: number; scarce: string } | null;
  socketServer: 'uws' | 'ws' | null;
  /** False: its list is full, the message is lost. */
  send(message: ToMedia): boolean;
}

export interface MediaPool extends MediaCommands, CallRoomSource {
  /** To one process, if it is there; false: it is not. */
  tell(runId: string, message: ToMedia): boolean;
  /** By its run, under which it may be known already; the newest of a process replaces the older. */
  join(member: MediaMember): void;
  leave(member: MediaMember): void;
  members(): readonly MediaMember[];
  /** Asks the process that carries the call, wherever it is. `unanswered`: it may or may not have happened. */
  control(call: Pick<CallRow, 'callUuid' | 'ownerRun'>, action: ControlAction): Promise<ControlOutcome | 'unanswered'>;
  /** A process has answered. */
  controlled(controlId: string, outcome: ControlOutcome): void;
  /** A tool's answer, to who carries the call. A process that is away gets it when it comes back. */
  toolAnswered(ownerRun: string | null, callUuid: string, toolCallId: string, answer: ToolAnswer): void;
  /** Step 12 of contract §2: is there a connected process that takes calls and has room? */
  hasRoom(): boolean;
  /** The call has gone to another process: the one that had it lets go. */
  superseded(callUuid: string, ownerRun: string): void;
  /** A visitor is about to come: the greeting in each format that a page may ask for. Never throws. */
  prepareWeb(agent: AgentDefinition): void;
}

/** An operator waits for it. */
const CONTROL_LIMIT_MS = 3_000;

export interface MediaPoolDeps {
  database: Database;
  clock: Clock;
  log: Logger;
  /** Processes of other nodes. Absent: there are none. */
  remote?: Pick<RemoteMedia, 'control' | 'tell' | 'prepare'>;
  /** How many more calls other nodes take, where calls can be sent to them. Absent: none. */
  roomElsewhere?(): number;
  /** Never rejects. Absent: no agent has any. */
  clipsOf?(agentId: string, agent: AgentDefinition): Promise<CallClips | undefined>;
  /** Absent: no agent names any. */
  grantsOf?(callUuid: string, agent: AgentDefinition): Promise<readonly ConnectionGrant[] | undefined>;
}

function notMeasured({ activeCalls }: MediaMember): ReturnType<CallRoomSource['room']> {
  const alwaysCalls = Math.max(0, ALWAYS_CALLS - activeCalls);
  return { moreCalls: alwaysCalls, alwaysCalls, carriesCalls: 0, scarce: null };
}

export function createMediaPool(deps: MediaPoolDeps): MediaPool {
  const { clock, log } = deps;
  const agentOf = createAgentReader(deps.database);
  const byRun = new Map<string, MediaMember>();
  const asked = new Map<string, (outcome: ControlOutcome | 'unanswered') => void>();

  const hasRoomFor = (member: MediaMember): boolean =>
    member.connected && !member.draining && member.activeCalls < member.capacityCalls;

  const elsewhere = (): number => deps.roomElsewhere?.() ?? 0;

  const idlest = (): MediaMember | undefined =>
    [...byRun.values()]
      .filter(hasRoomFor)
      .sort((a, b) => a.activeCalls / a.capacityCalls - b.activeCalls / b.capacityCalls)[0];

  function send(member: MediaMember, message: ToMedia): void {
    if (!member.send(message)) log.warn({ mediaId: member.mediaId, type: message.type }, 'a command to media was lost');
  }

  function toOwner(ownerRun: string | null, message: ToMedia): void {
    if (ownerRun === null) return;
    const owner = byRun.get(ownerRun);
    if (owner === undefined) deps.remote?.tell(ownerRun, message);
    else send(owner, message);
  }

  return {
    tell(runId, message) {
      const member = byRun.get(runId);
      return member?.connected === true && member.send(message);
    },
    join(member) {
      for (const [runId, { mediaId }] of byRun) if (mediaId === member.mediaId) byRun.delete(runId);
      byRun.set(member.runId, member);
    },
    leave(member) {
      if (byRun.get(member.runId) === member) byRun.delete(member.runId);
    },
    members: () => [...byRun.values()],
    hasRoom: () => [...byRun.values()].some(hasRoomFor) || elsewhere() >= 1,
    room() {
      const sum = { moreCalls: 0, alwaysCalls: 0, carriesCalls: 0, scarce: null as string | null };
      for (const member of byRun.values()) {
        if (!hasRoomFor(member)) continue;
        const { moreCalls, alwaysCalls = 0, carriesCalls, scarce } = member.room ?? notMeasured(member);
        const mostCalls = member.capacityCalls - member.activeCalls;
        sum.moreCalls += Math.min(mostCalls, moreCalls);
        sum.alwaysCalls += Math.min(mostCalls, alwaysCalls);
        sum.carriesCalls += Math.min(member.capacityCalls, carriesCalls);
        sum.scarce ??= scarce;
      }
      sum.moreCalls += elsewhere();
      return sum;
    },

    stop({ callUuid, ownerRun, ending, endedReason }) {
      toOwner(ownerRun, { type: 'stop', callUuid, reason: ending?.reason ?? endedReason });
    },

    control(call, action) {
      const { ownerRun, callUuid } = call;
      const owner = ownerRun === null ? undefined : byRun.get(ownerRun);
      if (owner === undefined && ownerRun !== null && deps.remote !== undefined) {
        return deps.remote.control(ownerRun, callUuid, action);
      }
      // A process that is away would get it when it comes back, long after whoever asked has gone.
      if (owner === undefined || !owner.connected) return Promise.resolve({ done: false, why: 'not_here' });
      const controlId = randomUUID();
      return new Promise((resolve) => {
        const cancel = clock.after(CONTROL_LIMIT_MS, () => settle('unanswered'));
        const settle = (outcome: ControlOutcome | 'unanswered'): void => {
          cancel();
          asked.delete(controlId);
          resolve(outcome);
        };
        asked.set(controlId, settle);
        if (!owner.send({ type: 'control', controlId, callUuid, action })) {
          settle({ done: false, why: 'not_here' });
        }
      });
    },
    controlled: (controlId, outcome) => asked.get(controlId)?.(outcome),
    toolAnswered(ownerRun, callUuid, toolCallId, answer) {
      toOwner(ownerRun, { type: 'tool.answer', callUuid, toolCallId, answer });
    },
    superseded(callUuid, ownerRun) {
      toOwner(ownerRun, { type: 'stop', callUuid, reason: null, superseded: true });
    },

    prepareWeb(agent) {
      const member = idlest();
      // A provider's voice speaks for a call alone, and there is none yet.
      if (member === undefined || connectionsNamedIn(agent).length > 0) return;
      const placeholders = placeholdersOf(UNKNOWN_VISITOR, agent, clock.epochMs());
      for (const format of WEB_VOICE_FORMATS) {
        send(member, { type: 'prepare', callUuid: UNKNOWN_VISITOR.callUuid, agent, placeholders, format });
      }
    },

    async prepare(call) {
      const { assignedRun } = call;
      const member = assignedRun === null ? idlest() : byRun.get(assignedRun);
      if (member === undefined && assignedRun !== null) deps.remote?.prepare(assignedRun, call.callUuid);
      if (member === undefined) return;
      const agent = await agentOf(call);
      const placeholders = placeholdersOf(call, agent, clock.epochMs());
      const clips = await deps.clipsOf?.(call.agentId, agent);
      const { callUuid } = call;
      const grants = await deps.grantsOf?.(callUuid, agent);
      const format = formatAtCarrier(call.carrier);
      const found = { ...(clips && { clips }), ...(grants && { grants }) };
      send(member, { type: 'prepare', callUuid, agent, ...found, placeholders, format });
    },
  };
}
