/** A `fetch` over connections of one's own making. */
import { type Dispatcher, fetch as undiciFetch } from 'undici';

export function fetchOver(dispatcher: Dispatcher): typeof fetch {
  const over = (url: string, init: object = {}): unknown => undiciFetch(url, { ...init, dispatcher });
  return over as unknown as typeof fetch;
}
