/**
 * The kind of agents that converse, as `media/threads/agent-kinds.ts` lists it: what it says first, and with which
 * engines it hears, thinks and speaks.
 */
import type { AgentKind } from '../../contract/agent.ts';
import type { CascadeAgent } from '../../contract/agent-definition.ts';
import type { EngineChoice } from '../../contract/engine-kinds.ts';
import { DEFAULT_MODEL_ENGINE } from '../../contract/engine-list.ts';
import { Conversant } from './cascade-agent.ts';
import { linesIn } from './lines.ts';
import { firstMessageOf } from './prompt.ts';
import { spokenText } from './speakable.ts';

export const cascadeKind: AgentKind<CascadeAgent> = {
  kind: 'cascade',
  traits: { isSteerable: true, saysGoodbyeDeaf: true },
  stateVersion: 1,
  readsVersions: [1],
  create: (context) => new Conversant(context),
  opening(definition, placeholders) {
    const text = firstMessageOf(definition, placeholders);
    return text === null ? null : { text: spokenText(text, definition.language) };
  },
  engines: enginesOf,
  fixedTexts(definition) {
    const lines = linesIn(definition);
    const all = [
      ...lines.fillers,
      ...lines.unclear,
      ...lines.idle,
      lines.nothing,
      lines.apology,
      lines.limit,
      lines.farewell,
    ];
    return all.map((line) => spokenText(line, definition.language));
  },
};

function enginesOf({
  think,
  listen,
  speak,
  language,
  otherLanguages = [],
  voiceActivity = 'gate',
}: CascadeAgent): EngineChoice {
  const languages = { language, languages: [language, ...otherLanguages] };
  const [voice, ...standbyVoices] = speak.map(({ engine, voice: name, connection, settings, model }) => ({
    engine,
    name,
    ...(connection === undefined ? {} : { connection }),
    settings: { ...settings, language, ...named(model) },
  }));
  return {
    ear: {
      engine: listen.engine,
      ...(listen.connection === undefined ? {} : { connection: listen.connection }),
      settings: { ...listen.settings, ...languages, ...named(listen.model), keyterms: listen.keyterms ?? [] },
    },
    voice: voice!,
    standbyVoices,
    models: think.map(({ engine = DEFAULT_MODEL_ENGINE, connection, model, temperature, settings }) => ({
      engine,
      connection,
      settings: { ...settings, model, ...(temperature === undefined ? {} : { temperature }) },
    })),
    voiceActivity,
  };
}

const named = (model: string | undefined): { model?: string } => (model === undefined ? {} : { model });
