/**
 * The engines that agents may name, and what each declares of itself: the one list. Control checks an agent against it
 * before anything of an engine is loaded, and shows it to people; `media/engines/registry.ts` has an entry for each,
 * which the compiler holds it to, and the engines take the types of their settings from here.
 */
import { LOCAL_VOICES } from './local-voices.ts';
import type { ProviderAbility, ProviderName } from './providers.ts';

export type EngineSetting = { about: string } & (
  | { type: 'boolean' }
  | { type: 'text' }
  | { type: 'number'; least: number; most: number; isWhole?: true; mayBeNull?: true }
);

export interface EngineDeclaration {
  /** Whose connection it is used by; null: it runs on this machine and needs none. */
  provider: ProviderName | null;
  /** Of the agent's `settings`; what has a field of its own there (`model`, `temperature`) is none of them. */
  settings: Readonly<Record<string, EngineSetting>>;
  /** Names of its voices, where they are known here. */
  voices?: readonly string[];
}

const share = (about: string) => ({ type: 'number', least: 0, most: 1, about }) as const;
/** In ms, of a recogniser that ends turns. */
const silence = { type: 'number', least: 50, most: 10_000, isWhole: true } as const;

export const ENGINES = {
  listen: {
    local: { provider: null, settings: {} },
    deepgram: {
      provider: 'deepgram',
      settings: {
        smartFormat: { type: 'boolean', about: 'dates, times and numbers as people write them' },
        numerals: { type: 'boolean', about: 'numbers as digits' },
        profanityFilter: { type: 'boolean', about: 'swear words are replaced' },
      },
    },
    'deepgram-flux': {
      provider: 'deepgram',
      settings: {
        endOfTurnThreshold: {
          type: 'number',
          least: 0.5,
          most: 1,
          about: "how sure of a turn's end it must be; default 0.7",
        },
        eagerEndOfTurnThreshold: {
          type: 'number',
          least: 0.3,
          most: 0.9,
          mayBeNull: true,
          about: 'how sure before an end is told as likely, not above the other; default 0.5, null: not told',
        },
        endOfTurnTimeoutMs: {
          type: 'number',
          least: 500,
          most: 10_000,
          isWhole: true,
          about: 'silence that ends a turn however unsure it is; default 5000',
        },
      },
    },
    assemblyai: {
      provider: 'assemblyai',
      settings: {
        mode: { type: 'text', about: 'min_latency, balanced or max_accuracy; of the models universal-3 and later' },
        minTurnSilenceMs: { ...silence, about: 'silence after which it looks whether the turn is over' },
        maxTurnSilenceMs: { ...silence, about: 'silence that ends a turn however unsure it is' },
        endOfTurnThreshold: share(
          "how sure of a turn's end it must be; default 0.4; of the models universal-streaming",
        ),
        profanityFilter: { type: 'boolean', about: 'swear words are replaced' },
      },
    },
    openai: {
      provider: 'openai_compatible',
      settings: {
        noiseReduction: { type: 'text', about: 'near_field of a headset, far_field of a room; default: none' },
      },
    },
  },
  think: {
    openai: {
      provider: 'openai_compatible',
      settings: {
        topP: share('as the provider has it (top_p)'),
        reasoningEffort: { type: 'text', about: 'of models that reason: such as low (reasoning_effort)' },
        serviceTier: { type: 'text', about: 'as the provider has it (service_tier)' },
      },
    },
    anthropic: {
      provider: 'anthropic',
      settings: {
        topP: share('as the provider has it (top_p), of models that take it'),
        serviceTier: { type: 'text', about: 'as the provider has it (service_tier)' },
      },
    },
    gemini: {
      provider: 'gemini',
      settings: {
        topP: share('as the provider has it (topP), of models that take it'),
        thinkingLevel: {
          type: 'text',
          about: 'how long it may think: such as low, of Gemini 3 and later; default: as little as the model can',
        },
      },
    },
  },
  speak: {
    local: { provider: null, settings: {}, voices: LOCAL_VOICES },
    elevenlabs: {
      provider: 'elevenlabs',
      settings: {
        stability: share('how evenly it speaks'),
        similarityBoost: share('how near to the voice that was cloned'),
        style: share('how much of its style is overdone'),
        speed: { type: 'number', least: 0.7, most: 1.2, about: '1: as it is' },
      },
    },
    cartesia: {
      provider: 'cartesia',
      settings: {
        speed: { type: 'number', least: 0.6, most: 1.5, about: '1: as it is' },
        volume: { type: 'number', least: 0.5, most: 2, about: '1: as it is' },
        emotion: { type: 'text', about: 'as the provider names it: such as calm' },
      },
    },
    deepgram: {
      provider: 'deepgram',
      settings: {
        speed: { type: 'number', least: 0.5, most: 1.5, about: '1: as it is' },
        expressivity: { type: 'number', least: -2, most: 2, isWhole: true, about: '0: as it is; of voices of Flux' },
      },
    },
    openai: {
      provider: 'openai_compatible',
      settings: {
        instructions: { type: 'text', about: 'how to speak, of models that take it' },
        speed: { type: 'number', least: 0.25, most: 4, about: '1: as it is' },
      },
    },
  },
} as const satisfies Record<ProviderAbility, Record<string, EngineDeclaration>>;

export type EngineName<Ability extends ProviderAbility> = keyof (typeof ENGINES)[Ability] & string;

/** Of an entry of `think` that names none. */
export const DEFAULT_MODEL_ENGINE = 'openai' satisfies EngineName<'think'>;

export function engineNames(ability: ProviderAbility): string[] {
  return Object.keys(ENGINES[ability]);
}

/** Undefined: this version has no such engine. */
export function engineDeclaration(ability: ProviderAbility, name: string): EngineDeclaration | undefined {
  const engines: Readonly<Record<string, EngineDeclaration>> = ENGINES[ability];
  return Object.hasOwn(engines, name) ? engines[name] : undefined;
}

type ValueOf<Setting> = Setting extends { type: 'boolean' }
  ? boolean
  : Setting extends { type: 'text' }
    ? string
    : Setting extends { mayBeNull: true }
      ? number | null
      : number;

/** What an engine finds in an agent's `settings`, all of it optional. */
export type EngineSettings<
  Ability extends ProviderAbility,
  Name extends EngineName<Ability>,
> = (typeof ENGINES)[Ability][Name] extends { settings: infer Settings }
  ? { -readonly [Key in keyof Settings]?: ValueOf<Settings[Key]> }
  : never;
