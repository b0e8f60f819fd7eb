/**
 * Names of the local engine's voices: the one list. An agent's definition may name them before anything of the engine
 * is loaded; the registry of engines declares them, and the engine has them.
 */

/** `slt` US woman, `rms` US man, `awb` Scottish man, `kal16` robotic and twelve times cheaper (for load and tests). */
export const LOCAL_VOICES = ['slt', 'rms', 'awb', 'kal16'] as const;
type LocalVoice = (typeof LOCAL_VOICES)[number];

export function isLocalVoice(name: string): name is LocalVoice {
  return (LOCAL_VOICES as readonly string[]).includes(name);
}
