/**
 * What no log line may hold, kept out in three layers that every logger of every process and thread uses (`safeLogOptions`): fields
 * that carry secrets by name, errors reduced to what helps (a database error quotes whole rows), and, last, the finished line,
 * in which anything that still looks like a telephone number or a credential is blanked. Pure, no package; the shape is pino's.
 */

/** At any depth that our log lines have. */
const SECRET_NAMES = [
  'authorization',
  'authToken',
  'credentials',
  'apiKey',
  'cookie',
  'keyHex',
  'masterKeyHex',
  'mediaUrl',
  'password',
  'recordingKeyHex',
  'secret',
  'secretKey',
  'secrets',
  'signature',
  'to',
  'toNumber',
  'token',
  'transcript',
];
const CENSOR = '[secret]';

/** Of an error: never its other fields, which quote rows, commands and requests. */
interface SafeError {
  type: string;
  message: string;
  stack?: string;
  code?: string;
  causes?: SafeError[];
}

const DEEPEST_CAUSE = 3;
/** Of the network, and of a PostgreSQL that takes no work now (classes 08, 53 and 57). */
const OUTSIDE_CODES =
  /^(E(AI_AGAIN|CONN(ABORTED|REFUSED|RESET)|HOST(DOWN|UNREACH)|NET(DOWN|UNREACH)|NOTFOUND|PIPE|TIMEDOUT)|UND_ERR_[A-Z_]+|(08|53|57)[0-9A-Z]{3})$/;
const OUTSIDE_MESSAGES =
  /connection terminated|timeout exceeded when trying to connect|connection ended|query read timeout/i;

/** For pino's `err`. Anything that is no error is shown by its type alone. */
export function safeError(error: unknown, depth = 0): SafeError {
  if (!(error instanceof Error)) return { type: typeof error, message: typeof error === 'string' ? error : '' };
  const message = quotesInput(error) ? 'text that is no JSON' : error.message;
  // The stack's first lines repeat the message.
  const frames = (error.stack ?? '').split('\n').filter((line) => /^\s+at /.test(line));
  const { code, constraint } = error as { code?: unknown; constraint?: unknown };
  const safe: SafeError = { type: error.name, message };
  if (!isFromOutside(message, code)) safe.stack = frames.join('\n');
  if (typeof code === 'string' || typeof code === 'number') safe.code = String(code);
  if (typeof constraint === 'string') safe.message = `${message} (${constraint})`;
  const inner = error instanceof AggregateError ? error.errors : error.cause === undefined ? [] : [error.cause];
  if (inner.length > 0 && depth < DEEPEST_CAUSE) safe.causes = inner.map((cause) => safeError(cause, depth + 1));
  return safe;
}

/** Somebody outside is slow, away or starting: where in our code that was met says nothing. */
function isFromOutside(message: string, code: unknown): boolean {
  return (typeof code === 'string' && OUTSIDE_CODES.test(code)) || OUTSIDE_MESSAGES.test(message);
}

/** `JSON.parse` shows a piece of what it was given. */
function quotesInput(error: Error): boolean {
  return error instanceof SyntaxError && /JSON/.test(error.message);
}

const BLANKED: readonly (readonly [RegExp, string])[] = [
  // E.164, also as it stands in a query.
  [/(\+|%2B)[1-9]\d{4,12}(\d{2})(?!\d)/gi, '$1…$2'],
  // The same without its plus, where a text has it alone. Not a bare JSON number: those are times.
  [/(?<=["\s=(/'<])[1-9]\d{7,12}(\d{2})(?=["\s,;)&?.'>\\]|$)/g, '…$1'],
  [/(sv_live_[0-9A-Za-z]{8}_)[0-9A-Za-z]+/g, `$1${CENSOR}`],
  [/whsec_[A-Za-z0-9+/=_-]+/g, `whsec_${CENSOR}`],
  // A provider's key: OpenAI's and those that look like it, ElevenLabs'.
  [/\b(sk[-_])[A-Za-z0-9_-]{12,}/g, `$1${CENSOR}`],
  [/\b(Token)\s+[A-Za-z0-9._~+/=-]{20,}/g, `$1 ${CENSOR}`],
  [/(xi-api-key["']?\s*[:=]\s*["']?)[A-Za-z0-9_-]{8,}/gi, `$1${CENSOR}`],
  [/\b(Bearer|Basic)\s+[A-Za-z0-9._~+/=-]{8,}/gi, `$1 ${CENSOR}`],
  [/(\/media\/[a-z]+\/)[A-Za-z0-9_-]{16,}/g, `$1${CENSOR}`],
  [/([?&](?:token|signature)=)[^&\s"\\]+/gi, `$1${CENSOR}`],
  // A JWT, and the resume token of a web session.
  [/\beyJ[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+/g, CENSOR],
  [/\br\.[0-9a-f-]{36}\.\d+\.\d+\.[A-Za-z0-9_-]+/g, CENSOR],
  [/((?:postgres(?:ql)?|rediss?):\/\/[^:/@\s"]*:)[^@\s"]+@/g, `$1${CENSOR}@`],
];

/** `secrets`: exact texts that this process knows and nobody may read. */
export function createLineCleaner(secrets: readonly string[] = []): (line: string) => string {
  const known = secrets.filter((secret) => secret.length >= 8);
  return (line) => {
    let clean = line;
    for (const secret of known) if (clean.includes(secret)) clean = clean.replaceAll(secret, CENSOR);
    for (const [pattern, blank] of BLANKED) clean = clean.replace(pattern, blank);
    return clean;
  };
}

/** Options for `pino`, to be spread into those that a process chooses itself. */
export function safeLogOptions(secrets: readonly string[] = []): {
  redact: { paths: string[]; censor: string };
  serializers: { err: (error: unknown) => SafeError };
  hooks: { streamWrite: (line: string) => string };
} {
  return {
    redact: {
      paths: SECRET_NAMES.flatMap((name) => [name, `*.${name}`, `*.*.${name}`, `*.*.*.${name}`]),
      censor: CENSOR,
    },
    serializers: { err: safeError },
    hooks: { streamWrite: createLineCleaner(secrets) },
  };
}
