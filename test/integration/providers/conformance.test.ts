/** The suites of the ports, provider × case, over emulated providers. Those over fakes: `test/unit/media/engines`. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { EARS, MODELS, VOICES } from '../../../media/engines/registry.ts';
import { describeCallEar } from '../../unit/media/engines/call-ear-conformance.ts';
import { asked, told } from '../../unit/media/engines/conformance-table.ts';
import { describeLanguageModel } from '../../unit/media/engines/model-conformance.ts';
import { describeTextToSpeech } from '../../unit/media/engines/text-to-speech-conformance.ts';
import {
  EAR_ENGINES,
  type Emulators,
  MODEL_ENGINES,
  openEar,
  openVoice,
  startEmulators,
  VOICE_ENGINES,
} from './emulated-engines.ts';

let emulators: Emulators;
beforeAll(async () => {
  emulators = await startEmulators();
});
afterAll(() => emulators?.close());

for (const engine of EAR_ENGINES) describeCallEar(`${engine}, emulated`, openEar(engine));
for (const engine of Object.keys(VOICE_ENGINES))
  describeTextToSpeech(`The voice ${engine}, emulated`, (change) => openVoice(engine, change));
for (const [engine, open] of Object.entries(MODEL_ENGINES)) describeLanguageModel(`${engine}, emulated`, open);

test.each([
  ['recogniser', EARS, EAR_ENGINES],
  ['voice', VOICES, Object.keys(VOICE_ENGINES)],
  ['model', MODELS, Object.keys(MODEL_ENGINES)],
] as const)('each %s of a provider has its emulator in emulated-engines.ts', (_port, kinds, engines) => {
  const ofProviders = kinds.filter(({ threads }) => threads === 'provider').map(({ name }) => name);
  expect([...engines].sort()).toEqual(ofProviders.sort());
});

test('docs/decisions/engine-conformance.md has each check of each emulated engine', ({ task }) => {
  expect(told(/^both$/)).toEqual(new Map(asked(task.file)));
});
