/**
 * When a number may be called: the workspace's hours, by the called person's own clock. Pure. Where the person's zone
 * is not known it may be any zone of the number's country, and then the hours must hold in all of them.
 */
import type { CallingWindow } from './calling-policy.ts';

export interface LocalTime {
  /** 1 Monday to 7 Sunday. */
  day: number;
  /** `09:30` */
  clock: string;
  /** `2026-11-21T09:30 America/Los_Angeles` */
  text: string;
}

const DAYS = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'];
/**
 * Costly to make. There are some hundred zones, but each may be written in any case, and leads bring them: of more,
 * those that were not asked for longest are made anew.
 */
const MOST_FORMATS = 700;
const formats = new Map<string, Intl.DateTimeFormat>();

const MINUTE_MS = 60_000;
/** By list: a country's is the same each time, has dozens of zones, and no clock shows seconds. */
const lastTimes = new WeakMap<readonly string[], { minute: number; times: readonly LocalTime[] }>();

/** What the clocks show in these zones; zones that show the same are named once. */
export function localTimesOf(zones: readonly string[], atEpochMs: number): readonly LocalTime[] {
  const minute = Math.floor(atEpochMs / MINUTE_MS);
  const last = lastTimes.get(zones);
  if (last?.minute === minute) return last.times;
  const times = readClocks(zones, atEpochMs);
  lastTimes.set(zones, { minute, times });
  return times;
}

function readClocks(zones: readonly string[], atEpochMs: number): LocalTime[] {
  const found = new Map<string, LocalTime>();
  for (const zone of zones) {
    const parts = formatOf(zone).formatToParts(atEpochMs);
    const of = (type: string): string => parts.find((part) => part.type === type)?.value ?? '';
    const clock = `${of('hour')}:${of('minute')}`;
    const at = `${of('year')}-${of('month')}-${of('day')}T${clock}`;
    if (!found.has(at)) found.set(at, { day: DAYS.indexOf(of('weekday')) + 1, clock, text: `${at} ${zone}` });
  }
  return [...found.values()];
}

/**
 * From `start` up to and without `end`, everywhere. No time at all: closed, because nobody knows what time it is there.
 */
export function isOpen(window: CallingWindow, times: readonly LocalTime[]): boolean {
  const fits = ({ day, clock }: LocalTime): boolean =>
    window.days.includes(day) && clock >= window.start && clock < window.end;
  return times.length > 0 && times.every(fits);
}

function formatOf(zone: string): Intl.DateTimeFormat {
  const format = formats.get(zone) ?? newFormat(zone);
  formats.delete(zone);
  formats.set(zone, format);
  if (formats.size > MOST_FORMATS) formats.delete(formats.keys().next().value!);
  return format;
}

function newFormat(zone: string): Intl.DateTimeFormat {
  return new Intl.DateTimeFormat('en-GB', {
    timeZone: zone,
    weekday: 'short',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
  });
}

/** `09:00-20:00 recipient`, as a call's entry shows it. */
export function windowText(window: CallingWindow): string {
  return `${window.start}-${window.end} ${window.timezone}`;
}
