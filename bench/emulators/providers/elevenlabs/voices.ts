/** Voices and models of the emulated ElevenLabs: its own ids, and Flite's names. */

interface EmulatedVoiceEntry {
  id: string;
  name: string;
  flite: string;
}

const VOICES: readonly EmulatedVoiceEntry[] = [
  { id: '21m00Tcm4TlvDq8ikWAM', name: 'Rachel', flite: 'slt' },
  { id: 'pNInz6obpgDQGcFmaJgB', name: 'Adam', flite: 'rms' },
  { id: 'JBFqnCBsd6RMkjVDRZzb', name: 'George', flite: 'awb' },
  { id: 'emulated-robot', name: 'Robot', flite: 'kal16' },
];

const MODELS = ['eleven_flash_v2_5', 'eleven_turbo_v2_5', 'eleven_multilingual_v2', 'eleven_flash_v2', 'eleven_v3'];
/** These are not served over WebSockets. */
const WITHOUT_SOCKETS = ['eleven_v3'];

export const DEFAULT_MODEL = 'eleven_multilingual_v2';

/** Flite's name for a voice's id; null: there is none. */
export function fliteVoiceOf(voiceId: string): string | null {
  return VOICES.find(({ id, flite }) => id === voiceId || flite === voiceId)?.flite ?? null;
}

export function hasModel(modelId: string): boolean {
  return MODELS.includes(modelId);
}

export function hasSockets(modelId: string): boolean {
  return !WITHOUT_SOCKETS.includes(modelId);
}

export function modelList(): object[] {
  return MODELS.map((id) => ({
    model_id: id,
    name: id,
    can_be_finetuned: false,
    can_do_text_to_speech: true,
    can_do_voice_conversion: false,
    can_use_style: true,
    can_use_speaker_boost: true,
    serves_pro_voices: false,
    token_cost_factor: 1,
    description: 'Emulated.',
    requires_alpha_access: false,
    max_characters_request_free_user: 2500,
    max_characters_request_subscribed_user: 5000,
    maximum_text_length_per_request: 40_000,
    languages: [{ language_id: 'en', name: 'English' }],
    concurrency_group: 'standard',
  }));
}

export function voiceList(): object[] {
  return VOICES.map(({ id, name }) => ({
    voice_id: id,
    name,
    samples: null,
    category: 'premade',
    labels: {},
    description: 'Emulated.',
    preview_url: null,
    available_for_tiers: [],
    settings: null,
    sharing: null,
    high_quality_base_model_ids: MODELS,
  }));
}
