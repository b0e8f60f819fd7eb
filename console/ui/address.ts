/**
 * The address behind the `#`: what is shown, in a form that can be sent to a colleague. It lies there, and not in the
 * path, so that no log and no referrer ever holds a filter or a call. `#/w/acme/calls?status=failed`
 */
import { computed, signal } from '@preact/signals';

export interface Address {
  /** `['w', 'acme', 'calls']` */
  path: readonly string[];
  query: URLSearchParams;
}

function read(hash: string): Address {
  const [path = '', query = ''] = hash.replace(/^#\/?/, '').split('?', 2);
  return { path: path.split('/').filter(Boolean).map(decoded), query: new URLSearchParams(query) };
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

const hash = signal(location.hash);
addEventListener('hashchange', () => {
  hash.value = location.hash;
});

export const address = computed(() => read(hash.value));

/** For `<a href>`: parts are encoded, empty parameters left out. */
export function to(path: readonly string[], query: Record<string, string | undefined> | URLSearchParams = {}): string {
  const given = query instanceof URLSearchParams ? query : new URLSearchParams();
  if (!(query instanceof URLSearchParams)) {
    for (const [name, value] of Object.entries(query)) if (value !== undefined && value !== '') given.set(name, value);
  }
  const words = given.toString();
  return `#/${path.map(encodeURIComponent).join('/')}${words === '' ? '' : `?${words}`}`;
}

export function go(href: string): void {
  location.hash = href;
}

/** Without a step in the history: what is typed into a filter, a token that nobody should find there. */
export function replaceAddress(href: string): void {
  history.replaceState(null, '', href);
  hash.value = href;
}
