/**
 * Makes the requests of tools for the calls that media carries. Media asks by the link (`tool.call`), in the call's
 * order, after its checkpoint; here a use is claimed in the database before its request leaves, so that at most one
 * leaves, whoever dies. An ask that comes again gets the answer that there is, or `outcome_unknown` where the run that
 * asked died (a tool with `retries: 1` is asked again). When the call has gone to another node meanwhile, the one that
 * asked is found there, and answers who carries the call now.
 *
 *   claim (in the message's transaction) ──► run ──► answer to whoever carries the call now
 *                                              └── cancel: the call ended
 */
import type { Logger } from 'pino';
import { talkingAgent } from '../../media/contract/agent-definition.ts';
import type { Clock } from '../../media/contract/clock.ts';
import type { ToolAnswer, ToolAsk, ToolDefinition } from '../../media/contract/tools.ts';
import { toolFailed } from '../../media/contract/tools.ts';
import type { OutboundHttp } from '../../media/net/outbound-http.ts';
import type { CallRow } from '../calls/call-row.ts';
import { readAgentDefinition } from '../calls/call-setup.ts';
import { publicMetadata } from '../calls/shown-fields.ts';
import type { Sealer } from '../sealing/sealer.ts';
import type { Queryable } from '../store/database.ts';
import { isDatabaseAway } from '../store/database-away.ts';
import { createBreakers } from './breaker.ts';
import { secretNamesOf } from './header-template.ts';
import { openSecrets, openSigningSecrets } from './secrets.ts';
import { sendTool } from './send-tool.ts';
import { claimToolUse } from './tool-log.ts';

export interface ToolExecutorDeps {
  http: Pick<OutboundHttp, 'send'>;
  sealer: Pick<Sealer, 'open'>;
  clock: Clock;
  log: Logger;
  /** To the media process that owns the call. */
  answer(ownerRun: string | null, callUuid: string, toolCallId: string, answer: ToolAnswer): void;
  observed?(outcome: string, seconds: number): void;
  /** Those of other nodes. Absent: there is none. */
  elsewhere?: ToolsElsewhere;
}

/** Uses of tools that other nodes have under way, or have had. */
export interface ToolsElsewhere {
  /** True: one of them has it, and answers this run from now on. Never rejects; within a moment. */
  adopt(toolCallId: string, ownerRun: string | null): Promise<boolean>;
  cancel(toolCallId: string): void;
}

export interface ToolExecutor {
  /**
   * Inside the transaction that has locked the call's row. Rejects when the database is away; then nothing has
   * happened. What it returns is to be run once the transaction has committed, and never rejects.
   */
  claim(tx: Queryable, call: CallRow, ask: ToolAsk): Promise<() => void>;
  cancel(toolCallId: string): void;
  /** Another node's call has it now; false: it is not known here. */
  handTo(toolCallId: string, ownerRun: string | null): boolean;
  /** What another node is told by its call. */
  cancelHere(toolCallId: string): void;
  callEnded(callUuid: string): void;
  running(): number;
  openBreakers(): number;
  /** Nothing new; what is under way gets 2 s to end. Idempotent. */
  close(): Promise<void>;
}

/** Under way at once: in this process, and of one workspace. */
const MOST_RUNNING = 256;
const MOST_OF_WORKSPACE = 40;
/** Answers are kept for whoever asks again: a pipeline thread that goes on for a dead one. */
const ANSWER_KEPT_MS = 120_000;
const MOST_ANSWERS_KEPT = 500;
const CALLED_OFF_KEPT_MS = 60_000;
const CLOSE_LIMIT_MS = 2_000;

interface RunningUse {
  callUuid: string;
  workspaceId: string;
  /** Who carries the call; the last to ask. */
  ownerRun: string | null;
  controller: AbortController;
}

export function createToolExecutor(deps: ToolExecutorDeps): ToolExecutor {
  const { http, sealer, clock, log } = deps;
  const breakers = createBreakers(clock);
  const running = new Map<string, RunningUse>();
  const answers = new Map<string, { answer: ToolAnswer; callUuid: string; atMs: number }>();
  /** Cancelled before they were claimed. */
  const calledOff = new Map<string, number>();
  let whenIdle: (() => void)[] = [];
  let closed = false;

  const nothing = (): void => {};
  const tell = (call: CallRow, ask: ToolAsk, answer: ToolAnswer) => (): void =>
    deps.answer(call.ownerRun, call.callUuid, ask.toolCallId, answer);

  function forget(nowMs: number): void {
    for (const [id, { atMs }] of answers) {
      if (answers.size <= MOST_ANSWERS_KEPT && nowMs - atMs < ANSWER_KEPT_MS) break;
      answers.delete(id);
    }
    for (const [id, atMs] of calledOff) {
      if (nowMs - atMs < CALLED_OFF_KEPT_MS) break;
      calledOff.delete(id);
    }
  }

  async function claim(tx: Queryable, call: CallRow, ask: ToolAsk): Promise<() => void> {
    const { toolCallId, name } = ask;
    forget(clock.nowMs());
    const known = answers.get(toolCallId);
    if (known !== undefined) return tell(call, ask, known.answer);
    const underWay = running.get(toolCallId);
    if (underWay !== undefined) {
      underWay.ownerRun = call.ownerRun;
      return nothing;
    }
    // Whoever asked has given up, or nobody may begin any more: the next run of control is asked again.
    if (closed || calledOff.delete(toolCallId) || ask.expiresAtEpochMs <= clock.epochMs()) return nothing;
    if (call.endedAt !== null) return tell(call, ask, toolFailed('cancelled', 'The call is over.'));
    const agent = await readAgentDefinition(tx, call);
    const definition = talkingAgent(agent)?.tools?.find((tool) => tool.name === name);
    if (definition === undefined || definition.kind === 'client') {
      return tell(call, ask, toolFailed('unknown_tool', `The agent has no tool '${name}'.`));
    }
    const key = `${call.agentId}/${name}`;
    const ofWorkspace = [...running.values()].filter((use) => use.workspaceId === call.workspaceId).length;
    if (running.size >= MOST_RUNNING || ofWorkspace >= MOST_OF_WORKSPACE) {
      return tell(call, ask, toolFailed('busy', 'Too many tools are at work at once.'));
    }
    const { callUuid, workspaceId, agentId, ownerRun } = call;
    const startedAtEpochMs = clock.epochMs();
    const isFirst = await claimToolUse(tx, { callUuid, workspaceId, agentId, toolCallId, name, startedAtEpochMs });
    if (!isFirst) {
      // Asked twice at once: the other's transaction has committed, and its request is out by now.
      const other = running.get(toolCallId);
      if (other !== undefined) other.ownerRun = ownerRun;
      if (other !== undefined || answers.has(toolCallId)) return nothing;
    }
    /** Unless another node has it: this one has not begun it, and somebody has. */
    const unlessElsewhere = (go: () => void): (() => void) => {
      const { elsewhere } = deps;
      if (isFirst || elsewhere === undefined) return go;
      return () => void elsewhere.adopt(toolCallId, ownerRun).then((isTheirs) => isTheirs || go());
    };
    if (!isFirst && definition.retries !== 1) {
      const unknown = toolFailed('outcome_unknown', 'The request may have been made, and is not repeated.');
      return unlessElsewhere(tell(call, ask, unknown));
    }
    let secrets: Map<string, string>;
    let signingSecrets: string[];
    try {
      secrets = await openSecrets(tx, sealer, workspaceId, secretNamesOf(definition.headers ?? {}));
      signingSecrets = await openSigningSecrets(tx, sealer, workspaceId);
    } catch (error) {
      if (isDatabaseAway(error)) throw error;
      log.error({ callUuid, tool: name, err: error }, 'the secrets of a tool do not open; it is not asked');
      return tell(call, ask, toolFailed('missing_secret', 'The secrets of the workspace do not open.'));
    }
    for (const [secret, value] of ownSecrets(call)) secrets.set(secret, value);
    return unlessElsewhere(() => {
      if (running.has(toolCallId) || closed || calledOff.delete(toolCallId)) return;
      if (!breakers.admits(key)) {
        settle(call, ask, toolFailed('circuit_open', 'It failed too often lately, and is not asked for a while.'), 0);
        return;
      }
      const controller = new AbortController();
      running.set(toolCallId, { callUuid, workspaceId, ownerRun, controller });
      void run(call, ask, { definition, secrets, signingSecrets, signal: controller.signal, key });
    });
  }

  async function run(
    call: CallRow,
    ask: ToolAsk,
    given: {
      definition: ToolDefinition;
      secrets: Map<string, string>;
      signingSecrets: string[];
      signal: AbortSignal;
      key: string;
    },
  ): Promise<void> {
    const { definition, secrets, signingSecrets, signal, key } = given;
    const sinceMs = clock.nowMs();
    const facts = {
      callUuid: call.callUuid,
      agentId: call.agentId,
      enterprise: call.enterprise,
      to: call.toNumber,
      direction: call.direction,
      metadata: publicMetadata(call.metadata),
    };
    const use = {
      definition,
      toolCallId: ask.toolCallId,
      arguments: ask.arguments,
      call: facts,
      secrets,
      signingSecrets,
    };
    const answer = await sendTool(use, { http, clock, signal }).catch((error: unknown) => {
      log.error({ callUuid: call.callUuid, tool: ask.name, err: error }, 'a fault of ours in a tool');
      return toolFailed('failed', 'A fault of the gateway.');
    });
    breakers.settled(key, faultOfEndpoint(answer));
    const owner = running.get(ask.toolCallId)?.ownerRun ?? call.ownerRun;
    running.delete(ask.toolCallId);
    settle({ ...call, ownerRun: owner }, ask, answer, (clock.nowMs() - sinceMs) / 1000);
    if (running.size > 0) return;
    const waiting = whenIdle;
    whenIdle = [];
    for (const done of waiting) done();
  }

  function settle(call: CallRow, ask: ToolAsk, answer: ToolAnswer, seconds: number): void {
    const { callUuid } = call;
    const { toolCallId, name } = ask;
    answers.set(toolCallId, { answer, callUuid, atMs: clock.nowMs() });
    deps.observed?.(answer.ok ? 'ok' : answer.code, seconds);
    if (!answer.ok && answer.code !== 'cancelled') {
      log.warn({ callUuid, toolCallId, tool: name, code: answer.code, status: answer.status }, 'a tool failed');
    }
    deps.answer(call.ownerRun, callUuid, toolCallId, answer);
  }

  return {
    claim,
    cancel(toolCallId) {
      const use = running.get(toolCallId);
      if (use !== undefined) use.controller.abort();
      else if (!answers.has(toolCallId)) {
        calledOff.set(toolCallId, clock.nowMs());
        deps.elsewhere?.cancel(toolCallId);
      }
    },
    handTo(toolCallId, ownerRun) {
      const use = running.get(toolCallId);
      if (use !== undefined) use.ownerRun = ownerRun;
      const known = answers.get(toolCallId);
      if (use === undefined && known !== undefined) deps.answer(ownerRun, known.callUuid, toolCallId, known.answer);
      return use !== undefined || known !== undefined;
    },
    cancelHere: (toolCallId) => running.get(toolCallId)?.controller.abort(),
    callEnded(callUuid) {
      for (const use of running.values()) if (use.callUuid === callUuid) use.controller.abort();
      for (const [id, known] of answers) if (known.callUuid === callUuid) answers.delete(id);
    },
    running: () => running.size,
    openBreakers: () => breakers.openCount(),
    async close() {
      if (closed) return;
      closed = true;
      if (running.size === 0) return;
      const idle = new Promise<void>((resolve) => whenIdle.push(resolve));
      let cancel = nothing;
      await Promise.race([idle, new Promise<void>((resolve) => (cancel = clock.after(CLOSE_LIMIT_MS, resolve)))]);
      cancel();
    },
  };
}

/** `secret.*` of the call's own metadata (contract §3), which outrank the workspace's. */
function ownSecrets(call: CallRow): [string, string][] {
  return Object.entries(call.metadata)
    .filter(([key, value]) => key.startsWith('secret.') && typeof value === 'string')
    .map(([key, value]) => [key.slice('secret.'.length), value as string]);
}

/** Null: it says nothing about the endpoint. */
function faultOfEndpoint(answer: ToolAnswer): boolean | null {
  if (answer.ok) return false;
  switch (answer.code) {
    case 'failed':
    case 'timeout':
    case 'too_large':
    case 'bad_answer':
    case 'redirected':
      return true;
    case 'http_error':
      return answer.status === 429 || (answer.status ?? 0) >= 500;
    default:
      return null;
  }
}
