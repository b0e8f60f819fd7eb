/**
 * When the calls of a call log began: of a JSON or CSV export, Parley's own or another's. Called by `main.ts` before
 * the schedule is made; what stands in the log beside instants is not looked at.
 */
import { readFileSync } from 'node:fs';
import { parse } from 'csv-parse/sync';
import { WorkloadFault } from './read-workload.ts';

/** Names of the column, or the field, in the order in which they are looked for. */
const INSTANTS = ['createdAt', 'created_at', 'startedAt', 'started_at', 'placedAt', 'start', 'begin', 'time', 'date'];
/** Of an object around the list. */
const LISTS = ['data', 'calls', 'items', 'objects'];

/** Milliseconds from the first call, rising. Throws a `WorkloadFault`. */
export function readReplayLog(path: string): number[] {
  return beginningsOf(readFileSync(path, 'utf8'), path);
}

/** `path` is what messages call it. */
export function beginningsOf(text: string, path: string): number[] {
  const rows = /^\s*[[{]/.test(text) ? rowsOfJson(text, path) : rowsOfCsv(text, path);
  const field = INSTANTS.find((name) => rows.some((row) => row[name] !== undefined && row[name] !== ''));
  if (field === undefined) {
    throw new WorkloadFault(
      `${path}: no call in it says when it began; name that column one of ${INSTANTS.join(', ')}`,
    );
  }
  const instants = rows.map((row, at) => {
    const value = row[field];
    const epochMs = typeof value === 'number' ? value : Date.parse(String(value));
    if (Number.isFinite(epochMs)) return epochMs;
    throw new WorkloadFault(
      `${path}: ${field} of call ${at + 1} is "${String(value)}"; write it as 2026-01-31T09:30:00Z`,
    );
  });
  const firstMs = instants.reduce((least, ms) => Math.min(least, ms), Number.POSITIVE_INFINITY);
  return instants.map((ms) => ms - firstMs).sort((a, b) => a - b);
}

function rowsOfCsv(text: string, path: string): Record<string, unknown>[] {
  try {
    return parse(text, { columns: true, bom: true, skip_empty_lines: true, trim: true }) as Record<string, unknown>[];
  } catch (error) {
    throw new WorkloadFault(`${path} is no CSV with a line of names: ${(error as Error).message}`);
  }
}

function rowsOfJson(text: string, path: string): Record<string, unknown>[] {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new WorkloadFault(`${path} is no JSON: ${(error as Error).message}`);
  }
  const list = Array.isArray(value)
    ? value
    : LISTS.map((name) => (value as Record<string, unknown>)[name]).find((one) => Array.isArray(one));
  if (!Array.isArray(list) || list.length === 0) {
    throw new WorkloadFault(
      `${path}: holds no list of calls; give an array, or an object with one of ${LISTS.join(', ')}`,
    );
  }
  return list as Record<string, unknown>[];
}
