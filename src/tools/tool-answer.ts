/**
 * What a tool's endpoint answered, as what the agent gets. Pure; never throws. A text is taken as it is, unless it begins like JSON or
 * variables are to be read from it: then it has to be JSON.
 */
import { TOOL_DEFAULTS, type ToolAnswer, type ToolDefinition, toolFailed } from '../../media/contract/tools.ts';
import type { OutboundResult } from '../outbound-http/outbound-http.ts';

/** `secrets` that the request held are blanked: an endpoint that repeats its headers must not make the agent say them. */
export function toolAnswer(definition: ToolDefinition, result: OutboundResult, secrets: readonly string[]): ToolAnswer {
  if (result.kind === 'refused') return toolFailed('refused', sentence(result.reason));
  if (result.kind === 'failed') return toolFailed('failed', sentence(result.reason));
  const { status, body, isBodyWhole } = result;
  if (status >= 300 && status < 400) {
    return toolFailed('redirected', `It answered ${status}; redirects are not followed.`, status);
  }
  if (status < 200 || status >= 300) return toolFailed('http_error', `It answered ${status}.`, status);
  if (isBodyWhole === false) {
    const most = definition.maxResponseBytes ?? TOOL_DEFAULTS.maxResponseBytes;
    if (Buffer.byteLength(body) < most) return toolFailed('failed', 'Its answer broke off.', status);
    return toolFailed('too_large', `Its answer is larger than ${most} bytes.`, status);
  }
  return read(definition, blanked(body, secrets), status);
}

function read(definition: ToolDefinition, body: string, status: number): ToolAnswer {
  const text = body.trim();
  const wantsJson = /^[{[]/.test(text) || Object.keys(definition.responseVariables ?? {}).length > 0;
  try {
    return { ok: true, status, result: JSON.parse(text) as unknown };
  } catch {
    if (wantsJson) return toolFailed('bad_answer', 'Its answer is no JSON.', status);
    return { ok: true, status, result: text };
  }
}

/** One of a few characters stands in any text by chance, and is no secret. */
const SHORTEST_SECRET = 6;

function blanked(body: string, secrets: readonly string[]): string {
  let text = body;
  for (const secret of secrets) if (secret.length >= SHORTEST_SECRET) text = text.replaceAll(secret, '[secret]');
  return text;
}

function sentence(clause: string): string {
  return `${clause.charAt(0).toUpperCase()}${clause.slice(1)}.`;
}
