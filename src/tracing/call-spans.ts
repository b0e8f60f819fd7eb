/**
 * A call that is over as spans, in the conventions of OpenTelemetry for generative AI: the call, its turns, each
 * question to a model, each use of a tool, and of each reply what the recogniser and the voice took. Pure; made of what
 * the call log tells. Words are in it only where the operator wants them.
 */
import { createHash } from 'node:crypto';
import type {
  ModelRequestFacts,
  ServedBy,
  ToolUseFacts,
  Turn,
  TurnLatency,
} from '../../media/contract/conversation.ts';
import type { Span } from './span.ts';

export interface CallFacts {
  callUuid: string;
  enterprise: string;
  agentId: string;
  agentVersion: number;
  channel: string;
  direction: string;
  carrier: string;
  status: string;
  endedReason: string | null;
  /** Wall clock: placed, or begun. */
  createdAtEpochMs: number;
  endedAtEpochMs: number;
  /** Wall clock of the transcript's 0; null: there was no stream, and nothing below. */
  streamAtEpochMs: number | null;
  turns: readonly Turn[];
  latencies: readonly TurnLatency[];
  requests: readonly ModelRequestFacts[];
  tools: readonly ({ toolCallId: string; name: string; atMs: number } & ToolUseFacts)[];
}

/** A call with more of them is cut there: a collector takes messages of some megabytes. */
export const MOST_SPANS = 4_000;

export function spansOf(call: CallFacts, withContent: boolean): Span[] {
  const traceId = idOf(32, call.callUuid);
  const root = idOf(16, call.callUuid, 'call');
  const spans: Span[] = [rootOf(call, traceId, root)];
  const zeroMs = call.streamAtEpochMs;
  if (zeroMs === null) return spans;
  const add = (span: Omit<Span, 'traceId' | 'spanId'>, ...key: (string | number)[]): string => {
    const spanId = idOf(16, call.callUuid, ...key);
    if (spans.length < MOST_SPANS) spans.push({ traceId, spanId, ...span });
    return spanId;
  };
  const turnSpans = new Map(
    call.turns.map((turn) => [turn.turnId, add(turnSpan(turn, root, zeroMs, withContent), 'turn', turn.turnId)]),
  );
  for (const latency of call.latencies) {
    const parent = turnSpans.get(latency.turnId) ?? root;
    for (const [index, span] of replySpans(latency, parent, zeroMs).entries()) {
      add(span, 'reply', latency.turnId, index);
    }
  }
  for (const [index, request] of call.requests.entries()) {
    add(requestSpan(request, parentOf(request, call.latencies, turnSpans) ?? root, zeroMs), 'request', index);
  }
  for (const tool of call.tools) add(toolSpan(tool, root, zeroMs), 'tool', tool.toolCallId);
  return spans;
}

function rootOf(call: CallFacts, traceId: string, spanId: string): Span {
  const failed = call.status === 'failed' || (call.endedReason?.endsWith('_error') ?? false);
  return {
    traceId,
    spanId,
    parentSpanId: null,
    name: 'invoke_agent',
    kind: 'server',
    startEpochMs: call.createdAtEpochMs,
    endEpochMs: call.endedAtEpochMs,
    attributes: {
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.conversation.id': call.callUuid,
      'gen_ai.agent.id': call.agentId,
      'gen_ai.agent.version': String(call.agentVersion),
      'parley.workspace': call.enterprise,
      'parley.call.channel': call.channel,
      'parley.call.direction': call.direction,
      'parley.call.carrier': call.carrier,
      'parley.call.status': call.status,
      'parley.call.ended_reason': call.endedReason,
    },
    error: failed ? (call.endedReason ?? call.status) : null,
  };
}

type Unplaced = Omit<Span, 'traceId' | 'spanId'>;

function turnSpan(turn: Turn, parentSpanId: string, zeroMs: number, withContent: boolean): Unplaced {
  const { turnId, role, startMs, endMs, heardText, interrupted, kind, intent } = turn;
  const message = [{ role: role === 'agent' ? 'assistant' : 'user', parts: [{ type: 'text', content: heardText }] }];
  const content = { [role === 'agent' ? 'gen_ai.output.messages' : 'gen_ai.input.messages']: JSON.stringify(message) };
  return {
    parentSpanId,
    name: `turn ${role}`,
    kind: 'internal',
    startEpochMs: zeroMs + startMs,
    endEpochMs: zeroMs + endMs,
    attributes: {
      'parley.turn.id': turnId,
      'parley.turn.role': role,
      'parley.turn.kind': kind ?? 'speech',
      'parley.turn.interrupted': interrupted,
      'parley.turn.intent': intent ?? null,
      ...(withContent ? content : {}),
    },
    error: null,
  };
}

function replySpans({ turnId, stages }: TurnLatency, parentSpanId: string, zeroMs: number): Unplaced[] {
  if (stages === undefined) return [];
  const { speechEndAtMs, decidedMs, finalWordsMs, firstClauseMs, firstAudioMs, firstFrameMs, listen, speak } = stages;
  const at = (ms: number): number => zeroMs + speechEndAtMs + ms;
  const span = (name: string, kind: Span['kind'], fromMs: number, toMs: number, attributes: Span['attributes']) => ({
    ...{ parentSpanId, name, kind, error: null },
    startEpochMs: at(fromMs),
    endEpochMs: at(Math.max(fromMs, toMs)),
    attributes: { 'parley.turn.id': turnId, ...attributes },
  });
  const reply = span('reply', 'internal', 0, firstFrameMs, { 'parley.reply.decided_ms': decidedMs });
  const spans = [reply];
  if (listen !== null) {
    spans.push(
      span(named('speech_to_text', listen), 'client', 0, finalWordsMs, servedAttributes('speech_to_text', listen)),
    );
  }
  if (speak !== null && firstClauseMs !== null && firstAudioMs !== null) {
    const attributes = servedAttributes('text_to_speech', speak);
    spans.push(span(named('text_to_speech', speak), 'client', firstClauseMs, firstAudioMs, attributes));
  }
  return spans;
}

function requestSpan(request: ModelRequestFacts, parentSpanId: string, zeroMs: number): Unplaced {
  const { served, askedAtMs, firstTokenMs, ms, outcome, fault, usage } = request;
  return {
    parentSpanId,
    name: named('chat', served),
    kind: 'client',
    startEpochMs: zeroMs + askedAtMs,
    endEpochMs: zeroMs + askedAtMs + ms,
    attributes: {
      ...servedAttributes('chat', served),
      'gen_ai.usage.input_tokens': usage?.inputTokens ?? null,
      'gen_ai.usage.cache_read.input_tokens': usage?.cachedInputTokens ?? null,
      'gen_ai.usage.output_tokens': usage?.outputTokens ?? null,
      'parley.first_token_ms': firstTokenMs,
      'parley.outcome': outcome,
      'error.type': fault,
    },
    error: outcome === 'failed' ? (fault ?? 'failed') : null,
  };
}

/** The reply that it was asked for, by the instant at which it was asked. */
function parentOf(
  { askedAtMs }: ModelRequestFacts,
  latencies: readonly TurnLatency[],
  turnSpans: ReadonlyMap<string, string>,
): string | undefined {
  const reply = latencies.find(({ stages }) => {
    const asked = stages?.askedMs ?? null;
    return asked !== null && Math.abs(stages!.speechEndAtMs + asked - askedAtMs) <= 1;
  });
  return reply === undefined ? undefined : turnSpans.get(reply.turnId);
}

function toolSpan(tool: CallFacts['tools'][number], parentSpanId: string, zeroMs: number): Unplaced {
  const { toolCallId, name, atMs, ms, outcome, code, status } = tool;
  return {
    parentSpanId,
    name: `execute_tool ${name}`,
    kind: 'client',
    startEpochMs: zeroMs + atMs - ms,
    endEpochMs: zeroMs + atMs,
    attributes: {
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': name,
      'gen_ai.tool.call.id': toolCallId,
      'http.response.status_code': status,
      'parley.outcome': outcome,
      'error.type': code,
    },
    error: outcome === 'failed' ? (code ?? 'failed') : null,
  };
}

function servedAttributes(operation: string, { provider, connection, model }: ServedBy): Span['attributes'] {
  return {
    'gen_ai.operation.name': operation,
    'gen_ai.provider.name': provider,
    'gen_ai.request.model': model,
    'parley.connection': connection,
  };
}

function named(operation: string, { provider, model }: ServedBy): string {
  return `${operation} ${model ?? provider}`;
}

/** The same for the same thing: what is sent twice is one. */
function idOf(digits: 16 | 32, ...key: (string | number)[]): string {
  return createHash('sha256').update(JSON.stringify(key)).digest('hex').slice(0, digits);
}
