/** A call as a line of CSV (RFC 4180). Text that a spreadsheet would take for a formula is made text of. Pure. */
import type { Call } from '../../../clients/typescript/src/client.ts';

const COLUMNS: readonly (readonly [string, (call: Call) => unknown])[] = [
  ['callUuid', (call) => call.callUuid],
  ['createdAt', (call) => call.createdAt],
  ['status', (call) => call.status],
  ['endedReason', (call) => call.endedReason],
  ['name', (call) => call.name],
  ['to', (call) => call.to],
  ['fromNumber', (call) => call.fromNumber],
  ['direction', (call) => call.direction],
  ['channel', (call) => call.channel],
  ['agentId', (call) => call.agentId],
  ['durationSeconds', (call) => call.durationSeconds],
  ['intent', (call) => call.intent],
  ['sentiment', (call) => call.sentiment],
  ['successful', (call) => call.successful],
  ['summary', (call) => call.summary],
  ['replyP95Ms', (call) => (call.latency?.['mouthToEarMs'] as { p95?: number } | null | undefined)?.p95],
  ['cost', (call) => call.cost?.total],
  ['metadata', (call) => JSON.stringify(call.metadata)],
  ['transcript', (call) => call.transcript],
];

/** What Excel, Sheets and Calc begin a formula with. */
const FORMULA = /^[=+\-@\t\r]/;

function cell(value: unknown): string {
  if (value === null || value === undefined) return '';
  const text = typeof value === 'string' && FORMULA.test(value) ? `'${value}` : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

export const csvHeader = (): string => `${COLUMNS.map(([name]) => name).join(',')}\r\n`;

export const csvLine = (call: Call): string => `${COLUMNS.map(([, of]) => cell(of(call))).join(',')}\r\n`;
