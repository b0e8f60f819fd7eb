/** Values of options that are more than a word. Each throws a `TargetFault` that says how it is written. */
import { TargetFault } from '../contract/target.ts';

/** `host:port`, or a port alone, which is one of loopback. */
export function listenerOf(given: string, option: string): { host: string; port: number } {
  const [, host, digits] = /^(?:\[?([^\]]*?)\]?:)?(\d{1,5})$/.exec(given) ?? [];
  const port = Number(digits);
  if (digits !== undefined && port < 65_536) return { host: host || '127.0.0.1', port };
  throw new TargetFault(`${option} ${given}: write host:port, as in 127.0.0.1:4010`);
}

/** `name:value` or `name=value`, of an option that may be given several times. */
export function pairsOf(given: readonly string[], between: ':' | '=', option: string): Record<string, string> {
  return Object.fromEntries(
    given.map((pair) => {
      const at = pair.indexOf(between);
      if (at > 0) return [pair.slice(0, at).trim(), pair.slice(at + 1).trim()];
      throw new TargetFault(`${option} ${pair}: write name${between}value`);
    }),
  );
}

export function numberOf(given: string, option: string, { least, most }: { least: number; most: number }): number {
  const value = given.trim() === '' ? Number.NaN : Number(given);
  if (value >= least && value <= most) return value;
  throw new TargetFault(`${option} ${given}: write a number from ${least} to ${most}`);
}

/** Scheme and host of an address that a browser could open. */
export function originOf(given: string): string {
  if (URL.canParse(given) && /^https?:/.test(given)) return new URL(given).origin;
  throw new TargetFault(
    `--url ${given}: write the address of the API with its scheme, as in https://voice.example.com`,
  );
}
