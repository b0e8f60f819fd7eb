/**
 * What goes over the wire while a row is shown, as lines for people: requests with their bodies, answers with theirs.
 * Keys are cut short.
 */

export interface Exchange {
  request: string;
  answer: string;
}

const MOST_CHARACTERS = 300;
const SHOWN_HEADERS = ['content-type', 'origin', 'prefer', 'idempotency-key', 'if-match'];

export function shortened(text: string): string {
  const clean = text
    .replace(/sv_(live|oper)_(\w{8})_\w+/g, 'sv_$1_$2_…')
    .replace(/whsec_[A-Za-z0-9+/=]+/g, 'whsec_…')
    .replace(/"token":"[^"]{40,}"/g, (all) => `${all.slice(0, 30)}…"`);
  return clean.length <= MOST_CHARACTERS ? clean : `${clean.slice(0, MOST_CHARACTERS)}…`;
}

/** A `fetch` that tells what it sent and got. */
export function recordingFetch(told: (exchange: Exchange) => void): typeof globalThis.fetch {
  return async (input, init = {}) => {
    const response = await fetch(input, init);
    const url = new URL(String(input));
    const headers = new Headers(init.headers);
    const authorization = headers.get('authorization');
    const shown = [
      ...(authorization === null ? [] : [`Authorization: ${authorization}`]),
      ...SHOWN_HEADERS.filter((name) => headers.has(name)).map((name) => `${name}: ${headers.get(name)}`),
    ];
    const body = typeof init.body === 'string' ? ` ${init.body}` : '';
    const text = /json|text/.test(response.headers.get('content-type') ?? '') ? await response.clone().text() : '';
    const code = response.headers.get('x-error-code');
    told({
      request:
        shortened(`${init.method ?? 'GET'} ${url.pathname}${url.search}${body}`) +
        shown.map((line) => `\n  ${shortened(line)}`).join(''),
      answer: `${response.status}${code === null ? '' : ` (${code})`} ${shortened(text.replace(/\s+/g, ' '))}`,
    });
    return response;
  };
}
