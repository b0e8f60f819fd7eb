/** Who takes part. Each is started for a run, on a core of its own, and speaks Plivo's streams. */
import type { SubjectKind } from './subject.ts';
import { startOther } from './subjects/other.ts';
import { startParley } from './subjects/parley.ts';

/** `peers`: where their packages are installed. */
export function subjectsOf(peers: string): Record<string, SubjectKind> {
  const livekit = (name: string, firstRung: number, detector: string, processes = 'one'): SubjectKind => ({
    name,
    dialsPerSecond: 5,
    firstRung,
    start: (port) => startOther({ peer: 'livekit', peers, port, settings: { detector, processes } }),
  });
  return {
    parley: {
      name: 'parley',
      dialsPerSecond: 40,
      firstRung: 250,
      start: (port) => startParley(port, { voiceActivity: 'gate', framesPerMessage: 1 }),
    },
    'parley-neural': {
      name: 'parley-neural',
      dialsPerSecond: 40,
      firstRung: 200,
      start: (port) => startParley(port, { voiceActivity: 'neural', framesPerMessage: 1 }),
    },
    plain: {
      name: 'plain',
      dialsPerSecond: 40,
      firstRung: 350,
      start: (port) => startOther({ peer: null, peers, port, settings: {} }),
    },
    livekit: livekit('livekit', 25, 'bundled'),
    'livekit-silero': livekit('livekit-silero', 15, 'silero'),
    'livekit-jobs': livekit('livekit-jobs', 10, 'bundled', 'job'),
    pipecat: {
      name: 'pipecat',
      dialsPerSecond: 5,
      firstRung: 15,
      start: (port) => startOther({ peer: 'pipecat', peers, port, settings: {} }),
    },
  };
}
