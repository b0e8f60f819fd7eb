/**
 * Reads the query of an upgrade as the service does: what it does not accept is refused with 400 and a reason, before
 * there is a socket. Called by both versions.
 */
import type { SoundFormat } from '../hearing/hearing.ts';

/** What is wrong with the request; its message is what the service says. */
export class QueryFault extends Error {
  override readonly name = 'QueryFault';
}

/** The service knows more encodings and rates; those that a telephone gateway sends are emulated. */
export function readSoundFormat(query: URLSearchParams): SoundFormat {
  const encoding = query.get('encoding');
  const rate = query.get('sample_rate');
  if (encoding === null || rate === null)
    throw new QueryFault('Raw audio needs encoding and sample_rate (containers are not emulated).');
  if (encoding !== 'mulaw' && encoding !== 'linear16')
    throw new QueryFault(`Invalid encoding ${encoding}: mulaw and linear16 are emulated.`);
  if (rate !== '8000' && rate !== '16000')
    throw new QueryFault(`Invalid sample_rate ${rate}: 8000 and 16000 are emulated.`);
  if ((query.get('channels') ?? '1') !== '1') throw new QueryFault('One channel is emulated.');
  return { encoding, rateHz: Number(rate) as SoundFormat['rateHz'] };
}

export function readBoolean(query: URLSearchParams, name: string): boolean {
  const value = query.get(name) ?? 'false';
  if (value !== 'true' && value !== 'false') throw new QueryFault(`Invalid ${name}: true or false, not ${value}.`);
  return value === 'true';
}

/** Null when it is absent. */
export function readNumber(query: URLSearchParams, name: string, least: number, most: number): number | null {
  const text = query.get(name);
  if (text === null) return null;
  const value = Number(text);
  if (text === '' || !(value >= least && value <= most))
    throw new QueryFault(`Invalid ${name}: ${least} to ${most}, not ${text}.`);
  return value;
}
