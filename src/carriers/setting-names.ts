/**
 * What people call the settings of a carrier: environment variables and options, made from its name. For messages and
 * for reading them.
 */
import { CARRIERS, type CarrierName, type CredentialField } from '../../media/contract/carriers.ts';

/** `CARRIER_API_BASE_PLIVO`: another address than the carrier's own, an emulator's for example. */
export function apiBaseVariable(carrier: string): string {
  return `CARRIER_API_BASE_${carrier.toUpperCase()}`;
}

/** `PARLEY_PLIVO_FRAMES_PER_MESSAGE` */
export function framesVariable(carrier: string): string {
  return `PARLEY_${carrier.toUpperCase()}_FRAMES_PER_MESSAGE`;
}

/** `PLIVO_AUTH_ID` */
export function credentialVariable(carrier: string, { name }: CredentialField): string {
  return `${carrier}_${words(name, '_')}`.toUpperCase();
}

/** `--auth-id`, and `--auth-token-file` for what is secret. */
export function credentialOption({ name, secret }: CredentialField): string {
  return `--${words(name, '-')}${secret ? '-file' : ''}`;
}

/** `--auth-id … --auth-token-file …` */
export function credentialOptions(carrier: string): string {
  const fields: readonly CredentialField[] = Object.hasOwn(CARRIERS, carrier)
    ? CARRIERS[carrier as CarrierName].credentials
    : [];
  return fields.map((field) => `${credentialOption(field)} …`).join(' ');
}

/** `authToken` in lower-case words. */
function words(name: string, between: string): string {
  return name.replace(/[A-Z]/g, (letter) => between + letter.toLowerCase());
}
