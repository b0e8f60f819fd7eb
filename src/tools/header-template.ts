/**
 * Headers of a tool as its owner writes them: fixed text and `{{secret.NAME}}`, nothing else. Pure. The import check
 * reads them by `headerProblem`, the request by `fillHeaders`; what was put in place of a
 * secret never leaves the request.
 */

const PLACEHOLDER = /\{\{\s*([^{}]*?)\s*\}\}/g;
const SECRET = /^secret\.([A-Za-z_][A-Za-z0-9_-]{0,55})$/;
/** RFC 9110 §5.6.2. */
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}$/;
/** RFC 9110 §5.5, without what is beyond US-ASCII. */
const FIELD_VALUE = /^[\t\x20-\x7e]*$/;
/** Ours, the connection's, or such as change where a request goes. */
const RESERVED = new Set([
  'connection',
  'content-encoding',
  'content-length',
  'content-type',
  'expect',
  'host',
  'idempotency-key',
  'keep-alive',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'user-agent',
  'webhook-id',
  'webhook-signature',
  'webhook-timestamp',
]);

/** Null when the header will do, else what completes the sentence "The header …". */
export function headerProblem(name: string, value: string): string | null {
  if (!TOKEN.test(name)) return 'is no name of a header';
  if (RESERVED.has(name.toLowerCase())) return 'is set by the gateway; take it out';
  const fixed = value.replace(PLACEHOLDER, '');
  for (const [whole, key = ''] of value.matchAll(PLACEHOLDER)) {
    if (!SECRET.test(key)) return `holds '${whole}'; only {{secret.NAME}} may stand in a header`;
  }
  if (fixed.includes('{{') || fixed.includes('}}')) return `has '{{' and '}}' that do not pair; write {{secret.NAME}}`;
  if (!FIELD_VALUE.test(fixed)) return 'may hold printable ASCII characters only';
  return null;
}

/** The names of the secrets that the headers use. */
export function secretNamesOf(headers: Readonly<Record<string, string>>): string[] {
  const names = Object.values(headers).flatMap((value) =>
    [...value.matchAll(PLACEHOLDER)].map(([, key = '']) => SECRET.exec(key)?.[1] ?? ''),
  );
  return [...new Set(names.filter((name) => name !== ''))];
}

export type FilledHeaders =
  | { ok: true; headers: Record<string, string>; shown: Record<string, string> }
  | { ok: false; problem: string };

/** `shown` is for people: each secret by its name. */
export function fillHeaders(
  headers: Readonly<Record<string, string>>,
  secretOf: (name: string) => string | undefined,
): FilledHeaders {
  const filled: Record<string, string> = {};
  const shown: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    for (const secret of secretNamesOf({ [name]: value })) {
      if (secretOf(secret) === undefined) return { ok: false, problem: `There is no secret '${secret}'.` };
    }
    const text = value.replace(PLACEHOLDER, (_whole, key: string) => secretOf(SECRET.exec(key)?.[1] ?? '') ?? '');
    if (!FIELD_VALUE.test(text)) return { ok: false, problem: `A secret in the header '${name}' fits no header.` };
    filled[name.toLowerCase()] = text;
    shown[name.toLowerCase()] = value;
  }
  return { ok: true, headers: filled, shown };
}
