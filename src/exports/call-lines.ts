/**
 * A call as a line of a file: CSV (RFC 4180) or one JSON object. In CSV, text that a spreadsheet would take for a
 * formula is made text of, also one that takes `;` or a tab for the end of a field, as Excel does in many countries.
 * Pure; called by `export-runner.ts`.
 */

export const EXPORT_FORMATS = ['csv', 'ndjson'] as const;
export type ExportFormat = (typeof EXPORT_FORMATS)[number];

/** An entry of the call log as the API shows it. */
export type ShownCall = Readonly<Record<string, unknown>>;

const named = (name: string): readonly [string, (call: ShownCall) => unknown] => [name, (call) => call[name]];

const COLUMNS: readonly (readonly [string, (call: ShownCall) => unknown])[] = [
  ...['callUuid', 'createdAt', 'answeredAt', 'endedAt', 'status', 'endedReason', 'fault', 'name', 'to', 'fromNumber'],
  ...[
    'direction',
    'channel',
    'agentId',
    'agentName',
    'agentVersion',
    'leadId',
    'answeredBy',
    'durationSeconds',
    'intent',
  ],
  ...['disposition', 'sentiment', 'successful', 'summary'],
].map(named);

const LAST_COLUMNS: typeof COLUMNS = [
  ['replyP95Ms', ({ latency }) => (latency as { mouthToEarMs?: { p95?: number } } | null)?.mouthToEarMs?.p95],
  ['cost', ({ cost }) => (cost as { total?: number | null } | null)?.total],
  ['currency', ({ cost }) => (cost as { currency?: string | null } | null)?.currency],
  ['metadata', ({ metadata }) => jsonOf(metadata)],
  named('transcript'),
];
const ALL_COLUMNS = [...COLUMNS, ...LAST_COLUMNS];

/** What Excel, Sheets and Calc begin a formula with; also behind blanks, and as full-width signs. */
const FORMULA = /^[\s\u00a0\u3000]*[=+\-@\t\r\n＝＋－＠]/;

/** Where a field would begin for whoever does not cut at commas; a dash before a blank begins an item of a list. */
const FORMULA_INSIDE = /([;\t\r\n])([^\S\r\n]*)([=@＝＠]|[+\-＋－](?=\S))/g;

function cell(value: unknown): string {
  if (value === null || value === undefined) return '';
  const plain = value instanceof Date ? value.toISOString() : value;
  const text = typeof plain === 'string' ? withoutFormulas(plain) : String(plain);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

const withoutFormulas = (text: string): string =>
  (FORMULA.test(text) ? "'" : '') + text.replace(FORMULA_INSIDE, "$1$2'$3");

/** The same value, so that a program reads it as it was. */
const jsonOf = (value: unknown): string =>
  (JSON.stringify(value) ?? '').replace(
    FORMULA_INSIDE,
    (_all, before, blanks, sign: string) => `${before}${blanks}\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

/** What stands before the first call; empty where there is nothing. */
export const headOf = (format: ExportFormat): string =>
  format === 'csv' ? `${ALL_COLUMNS.map(([name]) => name).join(',')}\r\n` : '';

export function lineOf(format: ExportFormat, call: ShownCall): string {
  if (format === 'ndjson') return `${JSON.stringify(call)}\n`;
  return `${ALL_COLUMNS.map(([, of]) => cell(of(call))).join(',')}\r\n`;
}
