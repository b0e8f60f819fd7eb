import type { AudioHolder } from './test-command.ts';
export async function createAudioHolder(): Promise<AudioHolder> { throw new Error('not yet'); }
