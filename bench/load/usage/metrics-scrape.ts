/**
 * What a target says of itself at `/metrics` (Prometheus text): the event loop's delay, and processor and memory of
 * each process where they cannot be read from the system. Used by `target-usage.ts`; a target that does not answer
 * costs its figures and nothing else.
 */

export interface Sample {
  name: string;
  labels: Record<string, string>;
  value: number;
}

export interface ScrapedProcess {
  cpuSeconds: number | null;
  residentBytes: number | null;
  eventLoopDelayP99Ms: number | null;
}

const LIMIT_MS = 3_000;
const LINE = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})?\s+(\S+)/;
const LABEL = /([a-zA-Z_]\w*)="((?:[^"\\]|\\.)*)"/g;

/** Null: it did not answer with samples. */
export async function scrape(url: string, token: string | null): Promise<Sample[] | null> {
  try {
    const headers: Record<string, string> = token === null ? {} : { authorization: `Bearer ${token}` };
    const answer = await fetch(url, { headers, signal: AbortSignal.timeout(LIMIT_MS) });
    return answer.ok ? samplesOf(await answer.text()) : null;
  } catch {
    return null;
  }
}

export function samplesOf(text: string): Sample[] {
  const samples: Sample[] = [];
  for (const line of text.split('\n')) {
    if (line.startsWith('#')) continue;
    const match = LINE.exec(line);
    if (match === null) continue;
    const labels: Record<string, string> = {};
    for (const [, name, value] of (match[2] ?? '').matchAll(LABEL)) labels[name!] = value!;
    samples.push({ name: match[1]!, labels, value: Number(match[3]) });
  }
  return samples;
}

/** By the label `process`; a target that is no Parley has its standard samples under one name. */
export function processesOf(samples: readonly Sample[]): Map<string, ScrapedProcess> {
  const processes = new Map<string, ScrapedProcess>();
  const of = (labels: Record<string, string>): ScrapedProcess => {
    const name = labels['process'] ?? 'target';
    const known = processes.get(name) ?? { cpuSeconds: null, residentBytes: null, eventLoopDelayP99Ms: null };
    processes.set(name, known);
    return known;
  };
  for (const { name, labels, value } of samples) {
    if (/(^|_)process_cpu_seconds_total$/.test(name)) of(labels).cpuSeconds = (of(labels).cpuSeconds ?? 0) + value;
    else if (/(^|_)process_resident_memory_bytes$/.test(name)) of(labels).residentBytes = value;
    else if (/event_?loop_(delay|lag)(_p99)?_seconds$/.test(name) && ['0.99', undefined].includes(labels['quantile'])) {
      of(labels).eventLoopDelayP99Ms = value * 1000;
    }
  }
  return processes;
}
