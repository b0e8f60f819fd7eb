/** What URLs of providers' sockets are made of. Pure. */
import type { ConnectionGrant } from '../../contract/grant.ts';

/** Of a connection: without a slash at its end. */
export function socketBase({ baseUrl }: Pick<ConnectionGrant, 'baseUrl'>): string {
  return baseUrl.replace(/^http/i, 'ws').replace(/\/+$/, '');
}

/** As ISO 639-1: `en-US` and `en_GB` are one. */
export function baseLanguage(tag: string): string {
  return tag.split(/[-_]/)[0]!.toLowerCase();
}

/** Each once. */
export function baseLanguages(tags: readonly string[] = []): string[] {
  return [...new Set(tags.map(baseLanguage))];
}
