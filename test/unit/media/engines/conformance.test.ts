/** The suites of the ports, engine × case: each engine of the registry is asked, and one without a case is missed. */
import { expect, test } from 'vitest';
import { EARS, MODELS, VOICES } from '../../../../media/engines/registry.ts';
import { describeCallEar } from './call-ear-conformance.ts';
import { asked, told } from './conformance-table.ts';
import { EAR_CASES, MODEL_CASES, VOICE_CASES } from './fake-engines.ts';
import { describeLanguageModel } from './model-conformance.ts';
import { describeTextToSpeech } from './text-to-speech-conformance.ts';

for (const [engine, forms] of Object.entries(EAR_CASES))
  for (const [form, open] of Object.entries(forms))
    describeCallEar(`${engine} in ${form}`, open, { isLocal: engine === 'local' });
for (const [engine, open] of Object.entries(VOICE_CASES))
  describeTextToSpeech(`The voice ${engine}`, open, { isLocal: engine === 'local' });
for (const [engine, open] of Object.entries(MODEL_CASES)) describeLanguageModel(engine, open);

test.each([
  ['recogniser', EARS, EAR_CASES],
  ['voice', VOICES, VOICE_CASES],
  ['model', MODELS, MODEL_CASES],
] as const)('each %s of the registry has its case in fake-engines.ts', (_port, kinds, cases) => {
  expect(Object.keys(cases).sort()).toEqual(kinds.map(({ name }) => name).sort());
});

test('docs/decisions/engine-conformance.md has each check of each engine', ({ task }) => {
  const page = told(/^(both|fake)$/);
  for (const [engine, checks] of asked(task.file)) expect([engine, page.get(engine)]).toEqual([engine, checks]);
  expect(new Set(page.keys())).toEqual(new Set(asked(task.file).map(([engine]) => engine)));
});
