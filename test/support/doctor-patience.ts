import { PATIENCE_MS } from '../../bench/harness/patience.ts';

/** Words of `parley doctor` where its findings are asked for, not the machine's speed: each check may take as long. */
export const DOCTOR_PATIENCE = ['--patience', String(PATIENCE_MS / 1_000)];
