/** What a check of the doctor's page found, and the way out of it. */
export interface Finding {
  level: 'ok' | 'warn' | 'fail';
  found: string;
  way?: string;
}

export const ok = (found: string): Finding => ({ level: 'ok', found });
export const warn = (found: string, way: string): Finding => ({ level: 'warn', found, way });
export const fail = (found: string, way: string): Finding => ({ level: 'fail', found, way });
