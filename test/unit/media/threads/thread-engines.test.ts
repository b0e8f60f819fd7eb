/**
 * Engines by their names: what the registry declares is true, each is loaded where it is used, and what cannot be had
 * is refused with the way out.
 */
import { readFileSync } from 'node:fs';
import { MessageChannel, type MessagePort } from 'node:worker_threads';
import { afterEach, expect, test } from 'vitest';
import type { CallEar, EarListener, EarTraits } from '../../../../media/contract/ear.ts';
import type { EarKind, VoiceKind } from '../../../../media/contract/engine-kinds.ts';
import { EARS, VOICES } from '../../../../media/engines/registry.ts';
import { ThreadEngines } from '../../../../media/threads/thread-engines.ts';

const ports: MessagePort[] = [];
afterEach(() => {
  for (const port of ports.splice(0)) port.close();
});

function port(): MessagePort {
  const { port1, port2 } = new MessageChannel();
  ports.push(port1, port2);
  return port1;
}

const deaf: EarListener = { words() {}, failed() {} };
const TRAITS: EarKind['traits'] = {
  ratesHz: [16000],
  codecs: ['pcm_s16le'],
  hears: 'everything',
  tellsTurns: true,
  tellsWordTimes: true,
  tellsConfidence: true,
};

/** An ear that notes what it is given, and how often its engine was loaded. */
class NotedEar implements CallEar {
  static loads = 0;
  static readonly pushed: Int16Array[] = [];
  static portNow: (() => MessagePort) | null = null;
  static closed = 0;
  readonly traits: EarTraits;
  constructor(rateHz: number) {
    const { hears, tellsTurns, tellsWordTimes, tellsConfidence } = TRAITS;
    this.traits = { rateHz, codec: 'pcm_s16le', hears, tellsTurns, tellsWordTimes, tellsConfidence };
  }
  push(monoSamples: Int16Array): void {
    NotedEar.pushed.push(monoSamples.slice());
  }
  close(): void {
    NotedEar.closed++;
  }
  hint(): void {}
  turnBegan(): void {}
  mayBeOver(): void {}
  wentOn(): void {}
  turnOver(): void {}
  turnDropped(): void {}
}

function notedKind(change: Partial<EarKind<MessagePort>> = {}): EarKind<MessagePort> {
  NotedEar.loads = 0;
  NotedEar.pushed.length = 0;
  NotedEar.closed = 0;
  return {
    name: 'noted',
    traits: TRAITS,
    threads: null,
    packages: [],
    load: () => {
      NotedEar.loads++;
      return Promise.resolve((portNow) => {
        NotedEar.portNow = portNow;
        return (rateHz) => () => new NotedEar(rateHz);
      });
    },
    ...change,
  };
}

test('what the registry declares of the local engines is what they are, and the packages are those of package.json', async () => {
  const engines = new ThreadEngines();
  await engines.usePorts({ stt: port(), tts: port() });
  const [ear] = EARS;
  for (const rateHz of ear!.traits.ratesHz as (8000 | 16000)[]) {
    const open = await engines.ear('local', rateHz);
    const { ratesHz: _rates, codecs, ...declared } = ear!.traits;
    expect(open(deaf).traits).toEqual({ ...declared, codec: codecs[0], rateHz });
  }
  const [voice] = VOICES;
  const { outputRateHz, voices } = await engines.voice('local');
  expect({ outputRateHz, voices }).toEqual({ outputRateHz: voice!.traits.rateHz, voices: voice!.traits.voices });
  const { dependencies } = JSON.parse(readFileSync('package.json', 'utf8')) as { dependencies: Record<string, string> };
  const known = Object.entries(dependencies).map(([name, version]) => `${name}@${version}`);
  for (const kind of [...EARS, ...VOICES]) for (const one of kind.packages) expect(known).toContain(one);
});

test('an engine is loaded at its first use, once; one with threads as soon as there are some', async () => {
  const own = notedKind();
  const engines = new ThreadEngines({ ears: [own, notedKind({ name: 'threaded', threads: 'stt' })], voices: [] });
  await engines.usePorts({ tts: port() });
  expect(NotedEar.loads).toBe(0);
  await engines.usePorts({ stt: port() });
  expect(NotedEar.loads).toBe(1);
  await Promise.all([engines.ear('noted', 16000), engines.ear('noted', 16000)]);
  expect(NotedEar.loads).toBe(2);
});

test('new ports lead those who have an engine already', async () => {
  const engines = new ThreadEngines({ ears: [notedKind({ threads: 'stt' })], voices: [] });
  const [first, second] = [port(), port()];
  await engines.usePorts({ stt: first });
  expect(NotedEar.portNow?.()).toBe(first);
  await engines.usePorts({ stt: second });
  expect(NotedEar.portNow?.()).toBe(second);
  expect(NotedEar.loads).toBe(1);
});

test('an unknown name, threads that are not there and a package that is not installed are refused with the way out', async () => {
  // Not a literal: nobody is to look for it before it is loaded.
  const absent: string = 'parley-no-such-engine';
  const voice: VoiceKind<MessagePort> = {
    name: 'far',
    traits: { rateHz: 24000, codecs: ['pcm_s16le'], tellsWordTimes: false, voices: ['one'] },
    threads: null,
    packages: ['parley-no-such-engine@1.0.0', 'ws@8'],
    load: () => import(/* @vite-ignore */ absent),
  };
  const engines = new ThreadEngines({ ears: EARS, voices: [...VOICES, voice] });
  await expect(engines.ear('near', 8000)).rejects.toThrow("there is no recogniser 'near'; this version has: local");
  await expect(engines.ear('local', 8000)).rejects.toThrow('set PARLEY_LISTEN_THREADS to 1 or more');
  await expect(engines.voice('local')).rejects.toThrow('set PARLEY_SPEECH_THREADS to 1 or more');
  await expect(engines.voice('far')).rejects.toThrow(
    "The voice engine 'far' needs a package that is not installed: npm install parley-no-such-engine@1.0.0 ws@8 (",
  );
});

test('a load that failed is tried again by the next call', async () => {
  let loads = 0;
  const kind = notedKind();
  const flaky = { ...kind, load: () => (++loads === 1 ? Promise.reject(new Error('not now')) : kind.load()) };
  const engines = new ThreadEngines({ ears: [flaky], voices: [] });
  await expect(engines.ear('noted', 16000)).rejects.toThrow('not now');
  await expect(engines.ear('noted', 16000)).resolves.toBeTypeOf('function');
});

test('a leg of a rate that the recogniser does not hear is resampled for it', async () => {
  const engines = new ThreadEngines({ ears: [notedKind()], voices: [] });
  const ear = (await engines.ear('noted', 8000))(deaf);
  expect(ear.traits.rateHz).toBe(8000);
  for (let i = 0; i < 50; i++) ear.push(new Int16Array(160).fill(1_000), i * 20);
  expect(NotedEar.pushed.map(({ length }) => length)).toEqual(Array.from({ length: 50 }, () => 320));
  expect(NotedEar.pushed.at(-1)!.at(-1)).toBeGreaterThan(900);
  ear.close();
  expect(NotedEar.closed).toBe(1);
});
