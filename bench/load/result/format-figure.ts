/**
 * How figures are written for people, the same in the terminal, in the report and in a verdict: `1,240 ms`, `1.2 %`,
 * `3.4 MB`. A dash where there is none.
 */

export type FigureKind = 'time' | 'share' | 'rate' | 'count' | 'bytes';

export const NO_FIGURE = '–';

const grouped = (digits: number): Intl.NumberFormat =>
  new Intl.NumberFormat('en-US', { minimumFractionDigits: digits, maximumFractionDigits: digits });
const WHOLE = grouped(0);
const TENTHS = grouped(1);
const HUNDREDTHS = grouped(2);

export function formatFigure(kind: FigureKind, value: number | null): string {
  if (value === null || Number.isNaN(value)) return NO_FIGURE;
  return FORMATS[kind](value);
}

const FORMATS: Record<FigureKind, (value: number) => string> = {
  time: formatMs,
  share: formatShare,
  rate: formatNumber,
  count: (value) => (Number.isInteger(value) ? WHOLE.format(value) : formatNumber(value)),
  bytes: formatBytes,
};

/** `0.03 %`, `12.5 %`, and near the whole, where hundredths are what it is about, `99.97 %`. */
function formatShare(share: number): string {
  const percent = share * 100;
  const isNearWhole = Math.abs(percent - 100) < 1 && percent !== 100;
  return `${isNearWhole ? HUNDREDTHS.format(percent) : formatNumber(percent)} %`;
}

/** Tenths below 20 ms, for the lateness of frames; else whole milliseconds, whatever their number: columns compare. */
export function formatMs(ms: number): string {
  return `${Math.abs(ms) < 20 && !Number.isInteger(ms) ? TENTHS.format(ms) : WHOLE.format(ms)} ms`;
}

/** Three digits or so: `0.03`, `1.25`, `12.5`, `1,250`. */
export function formatNumber(value: number): string {
  const size = Math.abs(value);
  if (Number.isInteger(value) || size >= 100) return WHOLE.format(value);
  if (size >= 10) return TENTHS.format(value);
  if (size >= 0.1) return HUNDREDTHS.format(value);
  return new Intl.NumberFormat('en-US', { maximumSignificantDigits: 2 }).format(value);
}

export function formatBytes(bytes: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB'];
  let value = bytes;
  let unit = 0;
  for (; Math.abs(value) >= 1_000 && unit < units.length - 1; unit++) value /= 1_000;
  return `${unit === 0 ? WHOLE.format(value) : formatNumber(value)} ${units[unit]}`;
}

/** `45 s`, `3 min 20 s`, `1 h 05 min`: how long something took. */
export function formatSpan(ms: number): string {
  const seconds = Math.round(ms / 1_000);
  if (ms < 9_950) return `${formatNumber(Math.round(ms / 100) / 10)} s`;
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return seconds % 60 === 0 ? `${minutes} min` : `${minutes} min ${seconds % 60} s`;
  return `${Math.floor(minutes / 60)} h ${String(minutes % 60).padStart(2, '0')} min`;
}

/** `4:07`: a place in a recording or a run. */
export function formatAt(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1_000));
  const [hours, minutes] = [Math.floor(seconds / 3_600), Math.floor(seconds / 60) % 60];
  const tail = String(seconds % 60).padStart(2, '0');
  return hours > 0 ? `${hours}:${String(minutes).padStart(2, '0')}:${tail}` : `${minutes}:${tail}`;
}

/** `1 call`, `2 calls`. */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${WHOLE.format(count)} ${count === 1 ? one : many}`;
}
