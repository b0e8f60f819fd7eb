/**
 * What a tool's endpoint answered, as what the agent gets. Pure; never throws. A text is taken as it is, unless it begins like JSON or
 * variables are to be read from it: then it has to be JSON.
 */
import { DEEPEST_JSON, isTooDeep } from '../../media/contract/json-depth.ts';
import { TOOL_DEFAULTS, type ToolAnswer, type ToolDefinition, toolFailed } from '../../media/contract/tools.ts';
import type { OutboundResult } from '../../media/net/outbound-http.ts';

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
  return read(definition, body, status, secrets);
}

function read(definition: ToolDefinition, body: string, status: number, secrets: readonly string[]): ToolAnswer {
  const text = body.trim();
  const wantsJson = /^[{[]/.test(text) || Object.keys(definition.responseVariables ?? {}).length > 0;
  try {
    const answer = JSON.parse(text) as unknown;
    if (isTooDeep(answer))
      return toolFailed('bad_answer', `Its answer is nested more than ${DEEPEST_JSON} deep.`, status);
    // Written anew before it is blanked, so that `\/` and `\u0061` hide nothing.
    const written = JSON.stringify(answer);
    const inJson = secrets.map((secret) => JSON.stringify(secret).slice(1, -1));
    return { ok: true, status, result: JSON.parse(blanked(written, inJson)) as unknown };
  } catch {
    if (wantsJson) return toolFailed('bad_answer', 'Its answer is no JSON.', status);
    return { ok: true, status, result: blanked(text, secrets) };
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
