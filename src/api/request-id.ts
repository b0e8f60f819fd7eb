/** `X-Request-Id`: the client's where it is harmless in a log, else one of ours. */
import type { IncomingHttpHeaders } from 'node:http';
import { v7 as uuidv7 } from 'uuid';

const HARMLESS = /^[A-Za-z0-9._-]{1,64}$/;

export function requestIdOf(headers: IncomingHttpHeaders, make: () => string = uuidv7): string {
  const given = headers['x-request-id'];
  return typeof given === 'string' && HARMLESS.test(given) ? given : make();
}
