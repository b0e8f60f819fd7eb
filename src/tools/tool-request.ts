/**
 * One use of an HTTP tool as a request: body, headers, signature (contract §14). Pure. The executor and `parley tool test` send what
 * this makes; only the executor's caller ever sees the secrets in it.
 */
import { TOOL_DEFAULTS, type ToolDefinition } from '../../media/contract/tools.ts';
import type { OutboundRequest } from '../../media/net/outbound-http.ts';
import { signatureHeaders } from '../webhooks/signing.ts';
import { fillHeaders } from './header-template.ts';

/** What the client's endpoint is told of the call. */
export interface ToolCallFacts {
  callUuid: string;
  agentId: string;
  enterprise: string;
  to: string;
  direction: string;
  /** Without `secret.*`. */
  metadata: Record<string, unknown>;
}

export interface ToolRequestParts {
  definition: ToolDefinition;
  toolCallId: string;
  /** Checked. */
  arguments: Record<string, unknown>;
  call: ToolCallFacts;
  secretOf: (name: string) => string | undefined;
  /** `whsec_…`, newest first; empty: unsigned. */
  signingSecrets: readonly string[];
  /** Of this attempt. */
  timestampSeconds: number;
}

export type ToolRequest =
  | { ok: true; request: Omit<OutboundRequest, 'signal'>; body: string; shownHeaders: Record<string, string> }
  | { ok: false; problem: string };

const USER_AGENT = 'Parley-Tools/1';

export function toolRequest(parts: ToolRequestParts): ToolRequest {
  const { definition, toolCallId, call, signingSecrets } = parts;
  const own = fillHeaders(definition.headers ?? {}, parts.secretOf);
  if (!own.ok) return own;
  const body = JSON.stringify(
    definition.argsAtRoot === true
      ? parts.arguments
      : { toolCallId, tool: definition.name, arguments: parts.arguments, call },
  );
  const signed =
    signingSecrets.length === 0
      ? {}
      : signatureHeaders(signingSecrets, { id: toolCallId, timestampSeconds: parts.timestampSeconds, body });
  const ours = {
    'content-type': 'application/json',
    'user-agent': USER_AGENT,
    'idempotency-key': toolCallId,
    ...signed,
  };
  const {
    url = '',
    timeoutMs = TOOL_DEFAULTS.timeoutMs,
    maxResponseBytes = TOOL_DEFAULTS.maxResponseBytes,
  } = definition;
  const limits = {
    connectMs: timeoutMs,
    responseMs: timeoutMs,
    totalMs: timeoutMs,
    bodyMs: timeoutMs,
    maxResponseBytes,
  };
  return {
    ok: true,
    request: {
      url,
      method: 'POST',
      headers: { accept: 'application/json, text/plain;q=0.5', ...own.headers, ...ours },
      body: Buffer.from(body, 'utf8'),
      limits,
    },
    body,
    shownHeaders: { ...own.shown, ...ours },
  };
}
