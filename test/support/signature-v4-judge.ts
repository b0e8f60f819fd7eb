/**
 * Signature Version 4 checked by the book (AWS, "Authenticating Requests: Using the Authorization Header"), for
 * requests to S3. Written for the tests alone, so that our client is not its own judge; s3rver reads such signatures
 * but does not check them.
 */
import { createHash, createHmac } from 'node:crypto';

export interface SignedRequest {
  method: string;
  /** Path and query as on the wire. */
  url: string;
  /** Lower-case names. */
  headers: Readonly<Record<string, string | string[] | undefined>>;
}

const hmac = (key: string | Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest();
const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

export function isSignedWith(secretAccessKey: string, { method, url, headers }: SignedRequest): boolean {
  const said =
    /Credential=([^/]+)\/(\d{8})\/([^/]+)\/s3\/aws4_request, ?SignedHeaders=([^,]+), ?Signature=([0-9a-f]{64})/.exec(
      String(headers['authorization']),
    );
  if (said === null) return false;
  const [, , day, region, names, signature] = said as unknown as string[];
  const [path = '', query = ''] = url.split('?');
  const canonical = [
    method,
    path,
    query
      .split('&')
      .filter(Boolean)
      .toSorted()
      .map((pair) => (pair.includes('=') ? pair : `${pair}=`))
      .join('&'),
    ...names!.split(';').map((name) => `${name}:${String(headers[name]).trim().replace(/ +/g, ' ')}`),
    '',
    names,
    headers['x-amz-content-sha256'],
  ].join('\n');
  const scope = `${day}/${region}/s3/aws4_request`;
  const toSign = ['AWS4-HMAC-SHA256', headers['x-amz-date'], scope, sha256(canonical)].join('\n');
  const key = hmac(hmac(hmac(hmac(`AWS4${secretAccessKey}`, day!), region!), 's3'), 'aws4_request');
  return hmac(key, toSign).toString('hex') === signature;
}
