/** The first line's status of an HTTP answer, `401 Unauthorized`; both socket servers write it themselves. */
import { STATUS_CODES } from 'node:http';

export function statusLine(httpStatus: number): string {
  return `${httpStatus} ${STATUS_CODES[httpStatus] ?? 'Unknown'}`;
}
