/** What active calls lost between two looks at a service's metrics, and how late their frames went out. */
import { setTimeout as wait } from 'node:timers/promises';

export interface Frames {
  counters: Map<string, number>;
  /** Of the lateness of frames sent, by upper bound in seconds: how many were at most so late. */
  lateness: [boundSeconds: number, count: number][];
}

const LOST = {
  parley_media_underrun_frames_total: 'missing when they were due',
  parley_media_ring_dropped_frames_total: 'dropped by full rings',
  parley_media_sends_dropped_total: 'lost to slow readers',
  parley_media_gaps_total: 'gaps in what the carrier sent',
};
const PLAYED = 'parley_media_played_frames_total';
const LATENESS = 'parley_media_frame_send_lateness_seconds_bucket';
/** Media tells its figures every 5 s. */
const REPORTED_MS = 6_000;

export async function readFrames(metricsPort: number): Promise<Frames> {
  await wait(REPORTED_MS);
  const text = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
  const counters = new Map<string, number>();
  const lateness: Frames['lateness'] = [];
  for (const [, name = '', labels = '', value = '0'] of text.matchAll(/^(\w+)(?:\{(.*)\})? (\S+)$/gm)) {
    if (name === LATENESS) {
      const bound = /le="([^"]+)"/.exec(labels)?.[1] ?? '';
      lateness.push([bound === '+Inf' ? Number.POSITIVE_INFINITY : Number(bound), Number(value)]);
    } else if (name === PLAYED || name in LOST) counters.set(name, (counters.get(name) ?? 0) + Number(value));
  }
  return { counters, lateness };
}

export function lossBetween(before: Frames, after: Frames): string[] {
  const risen = (name: string): number => (after.counters.get(name) ?? 0) - (before.counters.get(name) ?? 0);
  const lost = Object.entries(LOST).map(([name, what]) => `${risen(name)} ${what}`);
  const counts = after.lateness.map(([bound, count], at) => [bound, count - (before.lateness[at]?.[1] ?? 0)] as const);
  const all = counts.at(-1)?.[1] ?? 0;
  const within = (part: number): string => {
    const bound = counts.find(([, count]) => count >= all * part)?.[0] ?? Number.POSITIVE_INFINITY;
    return Number.isFinite(bound) ? `≤ ${bound * 1000} ms` : 'beyond all bounds';
  };
  return [
    `  frames         ${risen(PLAYED)} played; ${lost.join(', ')}`,
    `  sent late by   p99 ${within(0.99)}, p99.9 ${within(0.999)}, max ${within(1)}`,
  ];
}
