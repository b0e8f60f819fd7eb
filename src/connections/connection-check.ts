/**
 * What is given for a connection, judged before it is stored: each fault names the field and the way out. Which
 * credentials, settings and limits a provider has is declared in `media/contract/providers.ts`. Called by
 * `stored-connections.ts`.
 */
import type { ConnectionLimits } from '../../media/contract/grant.ts';
import {
  isProviderName,
  PROVIDER_NAMES,
  PROVIDERS,
  type ProviderName,
  providerDeclaration,
} from '../../media/contract/providers.ts';
import { type AddressCheck, problemOfTarget } from '../../media/net/target-check.ts';
import { parseTargetUrl } from '../../media/net/target-url.ts';
import { OperatorError } from '../errors/operator-error.ts';

const NAME = /^[a-z0-9][a-z0-9_-]{0,62}$/;
const LONGEST_CREDENTIAL = 4_096;
const LONGEST_SETTING = 200;
const HIGHEST_LIMIT = 1_000_000_000;

export function checkName(name: string): void {
  if (NAME.test(name)) return;
  throw new OperatorError(
    'invalid',
    `'${name.slice(0, 80)}' is no name of a connection: use 1 to 63 small letters, digits, - or _, not beginning with - or _.`,
  );
}

export function checkProvider(provider: string): ProviderName {
  if (isProviderName(provider)) return provider;
  throw new OperatorError(
    'invalid',
    `There is no provider '${provider.slice(0, 80)}'; there are: ${PROVIDER_NAMES.join(', ')}.`,
  );
}

/** Without a slash at its end. `check` absent: only its form is judged. */
export async function checkBaseUrl(given: string, check: AddressCheck | undefined): Promise<string> {
  // What people paste is often the address of the operation.
  const text = given
    .trim()
    .replace(/\/+$/, '')
    .replace(/\/chat\/completions$/, '');
  const target = parseTargetUrl(text, null);
  const problem = target.ok ? (check === undefined ? null : await problemOfTarget(text, check)) : target.problem;
  if (problem !== null) throw new OperatorError('invalid', `\`baseUrl\`: the URL ${problem}.`);
  if (target.ok && (target.url.search !== '' || target.url.hash !== '')) {
    throw new OperatorError(
      'invalid',
      `\`baseUrl\`: the URL must not have a query or a fragment; write it like ${PROVIDERS.openai_compatible.defaultBaseUrl}.`,
    );
  }
  return text;
}

/** All that the provider must have, and nothing that it does not know. Values go into headers: printable ASCII. */
export function checkCredentials(provider: ProviderName, given: Readonly<Record<string, unknown>>): void {
  const { credentials } = providerDeclaration(provider);
  const names = credentials.map(({ name }) => name);
  mustBeKnown('credentials', provider, names, given);
  for (const { name, required, about } of credentials) {
    const value = given[name];
    if (value === undefined) {
      if (!required) continue;
      const way = 'give it by --key-file, - for standard input, or PARLEY_CONNECTION_KEY';
      throw new OperatorError('invalid', `\`credentials.${name}\` is missing: ${about}`, way);
    }
    if (typeof value !== 'string' || !/^[\x21-\x7e]+$/.test(value) || value.length > LONGEST_CREDENTIAL) {
      throw new OperatorError(
        'invalid',
        `\`credentials.${name}\` must be 1 to ${LONGEST_CREDENTIAL} printable ASCII characters without blanks.`,
      );
    }
  }
}

export function checkSettings(provider: ProviderName, given: Readonly<Record<string, unknown>>): void {
  const { settings } = providerDeclaration(provider);
  mustBeKnown(
    'settings',
    provider,
    settings.map(({ name }) => name),
    given,
  );
  for (const { name, type } of settings) {
    const value = given[name];
    if (value === undefined) continue;
    if (type === 'boolean' && typeof value !== 'boolean') {
      throw new OperatorError('invalid', `\`settings.${name}\` must be true or false.`);
    }
    if (
      type === 'text' &&
      (typeof value !== 'string' || !/^[\x21-\x7e]+$/.test(value) || value.length > LONGEST_SETTING)
    ) {
      throw new OperatorError(
        'invalid',
        `\`settings.${name}\` must be 1 to ${LONGEST_SETTING} printable ASCII characters without blanks.`,
      );
    }
  }
}

/** Null takes a limit away: as many as the provider takes. */
export function checkLimits(
  provider: ProviderName,
  given: Readonly<{ [Name in keyof ConnectionLimits]?: number | null | undefined }>,
): void {
  mustBeKnown('limits', provider, providerDeclaration(provider).limits, given);
  for (const [name, value] of Object.entries(given)) {
    if (value === undefined || value === null) continue;
    if (!Number.isInteger(value) || value < 1 || value > HIGHEST_LIMIT) {
      throw new OperatorError(
        'invalid',
        `\`limits.${name}\` must be a whole number from 1 to ${HIGHEST_LIMIT}; leave it out, or null, for none.`,
      );
    }
  }
}

function mustBeKnown(
  field: string,
  provider: ProviderName,
  known: readonly string[],
  given: Readonly<Record<string, unknown>>,
): void {
  const stranger = Object.keys(given).find((name) => !known.includes(name));
  if (stranger === undefined) return;
  throw new OperatorError(
    'invalid',
    `\`${field}.${stranger.slice(0, 80)}\` means nothing to ${provider}; it knows: ${known.join(', ')}.`,
  );
}
