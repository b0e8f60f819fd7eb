/** Which model and which languages Deepgram is asked for, by what an agent's callers speak. */
import { describe, expect, test } from 'vitest';
import { fluxModelOf, fluxUrl, listenUrl } from '../../../../../media/engines/deepgram/listen-url.ts';
import { grantOf } from '../provider-harness.ts';

const SOUND = { codec: 'mulaw', rateHz: 8_000 } as const;
const grant = grantOf({ baseUrl: 'https://api.deepgram.com' });
const fluxQuery = (settings: object) => new URL(fluxUrl(grant, settings, { phrases: [] }, SOUND)).searchParams;
const listenQuery = (settings: object) => new URL(listenUrl(grant, settings, { phrases: [] }, SOUND)).searchParams;

describe('Flux', () => {
  test.each([
    [undefined, 'flux-general-en', []],
    [['en-US'], 'flux-general-en', []],
    [['en-US', 'en-GB'], 'flux-general-en', []],
    [['en-US', 'de'], 'flux-general-multi', ['en', 'de']],
    [['de-AT'], 'flux-general-multi', ['de']],
  ])('callers who speak %j: %s with hints %j', (languages, model, hints) => {
    const query = fluxQuery(languages === undefined ? {} : { languages });
    expect([query.get('model'), query.getAll('language_hint')]).toEqual([model, hints]);
    expect(fluxModelOf(languages === undefined ? {} : { languages })).toBe(model);
  });

  test('a model of the agent’s own is kept, and the English one is given no hints: it refuses them', () => {
    const query = fluxQuery({ model: 'flux-general-en', languages: ['en-US', 'de'] });
    expect([query.get('model'), query.getAll('language_hint')]).toEqual(['flux-general-en', []]);
  });
});

describe('listen v1', () => {
  test.each([
    [{ language: 'en-US', languages: ['en-US'] }, 'en-US'],
    [{ language: 'en-US', languages: ['en-US', 'en-GB'] }, 'en-US'],
    [{ language: 'en-US', languages: ['en-US', 'de'] }, 'multi'],
    [{ language: 'en-US', languages: ['en-US', 'de'], model: 'nova-3-medical' }, 'en-US'],
    [{ language: 'de', languages: ['de', 'en'], model: 'nova-2' }, 'de'],
  ])('%j: language %s', (settings, language) => expect(listenQuery(settings).get('language')).toBe(language));
});
