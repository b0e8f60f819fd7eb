/** How the card writes figures: the median, with the smallest and the largest of the repetitions where they differ. */
import { formatBytes, formatNumber, NO_FIGURE } from '../load/result/format-figure.ts';
import type { Spread } from './reckon.ts';

type Write = (value: number) => string;

/** `1.2 [1.1–1.4]` */
export function spreadText(spread: Spread | null, write: Write = formatNumber): string {
  if (spread === null) return NO_FIGURE;
  const [min, median, max] = [spread.min, spread.median, spread.max].map(write);
  return min === max ? median! : `${median} [${min}–${max}]`;
}

/** Of calls and rates of them, tenths say nothing from ten on. */
export const wholeFromTen: Write = (value) => formatNumber(value >= 10 ? Math.round(value) : value);
/** A process may give back more than the calls took. */
export const bytes: Write = (value) => (value < 0 ? `−${formatBytes(-value)}` : formatBytes(value));
export const tenths: Write = (value) => value.toFixed(1);
export const hundredths: Write = (value) => value.toFixed(2);

/** A table of Markdown; cells hold no line breaks. */
export function table(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.map(escaped).join(' | ')} |`;
  return [line(heads), `|${heads.map(() => '---').join('|')}|`, ...rows.map(line)].join('\n');
}

const escaped = (cell: string): string => cell.replace(/\|/g, '\\|').replace(/\s*\n\s*/g, ' ');
