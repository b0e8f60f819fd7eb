/**
 * Plivo's form callbacks in neutral terms. Called by the Plivo carrier for each callback whose signature was right. It
 * never throws: any text may come in any parameter, in any order, twice or late, and Plivo's own pages disagree about
 * names.
 */
import type { CarrierEnd, CarrierEvent } from '../carrier.ts';
import { meaningOfHangup } from './hangup-codes.ts';

type Params = Readonly<Record<string, string>>;

const MAX_CAUSE_CHARS = 120;
const MAX_DETAIL_CHARS = 200;
/** Longest call that Plivo allows is a day; a longer one is a misread number. */
const MAX_DURATION_SECONDS = 172_800;

/** `kind` is the last segment of the callback's path: `answer`, `next`, `ring`, `hangup` or `stream`. */
export function parsePlivoCallback(kind: string, params: Params): CarrierEvent {
  const carrierCallId = textOf(params, 'CallUUID') || textOf(params, 'RequestUUID');
  const event = textOf(params, 'Event').toLowerCase();
  if (carrierCallId === '') return { type: 'ignored', why: 'neither CallUUID nor RequestUUID' };
  if (kind === 'stream') return streamEvent(carrierCallId, params, event);
  // Plivo sends the hang-up to the answer URL where it knows no better one: the event outranks the path.
  if (event === 'hangup' || (kind === 'hangup' && event === '')) {
    return { type: 'ended', carrierCallId, end: endOf(params) };
  }
  if (kind === 'ring' && (event === 'ring' || event === '')) return { type: 'ringing', carrierCallId };
  // Only our `<Redirect>` leads there; what Plivo calls the event matters no more.
  if (kind === 'next') return { type: 'stream_over', carrierCallId };
  if (kind === 'answer' && (event === '' || event === 'startapp' || event === 'redirect' || event === 'transfer')) {
    return { type: 'answered', carrierCallId };
  }
  return { type: 'ignored', why: clean(`event "${event}" at the ${kind} callback`, MAX_DETAIL_CHARS) };
}

function endOf(params: Params): CarrierEnd {
  const code = textOf(params, 'HangupCauseCode').trim();
  const name = textOf(params, 'HangupCauseName') || textOf(params, 'HangupCause');
  return {
    ...meaningOfHangup({
      status: textOf(params, 'CallStatus'),
      code,
      cause: textOf(params, 'HangupCause'),
      source: textOf(params, 'HangupSource'),
    }),
    carrierCause: clean(`${code} ${name}`, MAX_CAUSE_CHARS) || null,
    durationSeconds: secondsOf(textOf(params, 'Duration')),
  };
}

/**
 * One page lists `StartStream`, `StopStream`, `DroppedStream`, `DegradedStream`, another `started`, `stopped`,
 * `failed`.
 */
function streamEvent(carrierCallId: string, params: Params, event: string): CarrierEvent {
  const name = event || textOf(params, 'Status').toLowerCase();
  const reason = textOf(params, 'StatusReason') || textOf(params, 'Reason');
  const detail = clean(`${name} ${reason}`, MAX_DETAIL_CHARS);
  if (name.startsWith('start')) return { type: 'stream', carrierCallId, state: 'started', detail };
  if (name.startsWith('stop')) return { type: 'stream', carrierCallId, state: 'stopped', detail };
  if (name.startsWith('degrad')) return { type: 'stream', carrierCallId, state: 'degraded', detail };
  if (name.startsWith('drop') || name.startsWith('fail')) {
    return { type: 'stream', carrierCallId, state: 'failed', detail };
  }
  return { type: 'ignored', why: `stream event "${detail}"` };
}

function textOf(params: Params, name: string): string {
  const value: unknown = Object.hasOwn(params, name) ? params[name] : undefined;
  return typeof value === 'string' ? value : '';
}

function secondsOf(text: string): number | null {
  const seconds = text.trim() === '' ? Number.NaN : Number(text);
  return Number.isFinite(seconds) && seconds >= 0 && seconds <= MAX_DURATION_SECONDS ? Math.round(seconds) : null;
}

/** Printable, one line, bounded: this text goes into logs and records. */
function clean(text: string, maxChars: number): string {
  return text
    .replace(/[^\p{L}\p{N}\p{P}\p{S} ]/gu, ' ')
    .replace(/ {2,}/g, ' ')
    .trim()
    .slice(0, maxChars);
}
