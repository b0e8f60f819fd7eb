/** Times in the reader's zone; the day is left out where it is today. The whole time is in the title. */

const hour = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit' });
const exact = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit', second: '2-digit' });
const day = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short' });
const dayOfYear = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short', year: 'numeric' });
const whole = new Intl.DateTimeFormat(undefined, { dateStyle: 'full', timeStyle: 'long' });

export const ownZone = Intl.DateTimeFormat().resolvedOptions().timeZone;

/** Of the reader's day. */
export function today(): string {
  const now = new Date();
  return new Date(now.getTime() - now.getTimezoneOffset() * 60_000).toISOString().slice(0, 10);
}

function dayWords(date: Date): string {
  const now = new Date();
  if (date.toDateString() === now.toDateString()) return '';
  return (date.getFullYear() === now.getFullYear() ? day : dayOfYear).format(date);
}

export function timeWords(at: string, isExact = false): string {
  const date = new Date(at);
  return [dayWords(date), (isExact ? exact : hour).format(date)].filter(Boolean).join(', ');
}

/** `at`: as the service tells times. */
export function Time({ at, isExact = false }: { at: string | null | undefined; isExact?: boolean }) {
  if (at === null || at === undefined) return <span class="soft">–</span>;
  return (
    <time dateTime={at} title={whole.format(new Date(at))}>
      {timeWords(at, isExact)}
    </time>
  );
}

/** `3:07`, `1:02:03`. */
export function clockWords(seconds: number): string {
  const all = Math.max(0, Math.floor(seconds));
  const [hours, minutes, rest] = [Math.floor(all / 3600), Math.floor(all / 60) % 60, all % 60];
  const two = (value: number): string => String(value).padStart(2, '0');
  return hours > 0 ? `${hours}:${two(minutes)}:${two(rest)}` : `${minutes}:${two(rest)}`;
}

/** `740 ms`, `1.24 s`. */
export function msWords(ms: number | null | undefined): string {
  if (ms === null || ms === undefined) return '–';
  return ms < 1_000 ? `${Math.round(ms)} ms` : `${(ms / 1_000).toFixed(2)} s`;
}

/** The time of day in another zone. */
export function timeInZone(at: string, zone: string): string | null {
  try {
    return new Intl.DateTimeFormat(undefined, { timeZone: zone, hour: '2-digit', minute: '2-digit' }).format(
      new Date(at),
    );
  } catch {
    return null;
  }
}
