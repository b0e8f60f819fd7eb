/** A service's Prometheus text with some of its series put at fault; all others stay as they were. */
import type { FaultySeries } from './faults.ts';

const SAMPLE = /^(\w+)(?:\{(.*)\})? (\S+)$/;
const SUFFIX = /_(?:bucket|sum|count)$/;

/** Names of the families that a text has, by their `# TYPE`; a metric without a sample is there too. */
export function familiesOf(text: string): Set<string> {
  return new Set([...text.matchAll(/^# TYPE (\w+) /gm)].map(([, name]) => name!));
}

/** Without the endings of a histogram's series. */
export function familyOf(series: string, families: ReadonlySet<string>): string {
  return families.has(series) ? series : series.replace(SUFFIX, '');
}

/** Throws when the service has no such metric, so that a fault of a renamed one is none. */
export function withFault(text: string, fault: readonly FaultySeries[], seconds: number): string {
  const families = familiesOf(text);
  let lines = text.split('\n');
  for (const { name, labels, value } of fault) {
    if (!families.has(familyOf(name, families))) throw new Error(`the service has no metric ${name}`);
    const now = value(seconds);
    let isThere = false;
    lines = lines.flatMap((line) => {
      const [, found, given = ''] = SAMPLE.exec(line) ?? [];
      if (found !== name || !Object.entries(labels).every(([key, wanted]) => given.includes(`${key}="${wanted}"`)))
        return [line];
      isThere = true;
      return now === null ? [] : [`${name}{${given}} ${now}`];
    });
    if (isThere || now === null) continue;
    const written = Object.entries(labels).map(([key, wanted]) => `${key}="${wanted}"`);
    lines.push(`${name}{${written.join(',')}} ${now}`);
  }
  return `${lines.filter((line) => line !== '').join('\n')}\n`;
}
