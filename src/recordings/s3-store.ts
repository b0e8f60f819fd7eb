/**
 * `RecordingStore` on anything that speaks S3: requests signed with Signature Version 4 (aws4fetch), sent by undici
 * with time limits of our own. Path-style addresses, which every server takes. What it stores is encrypted already, so
 * the bucket's own encryption is not relied on. Nothing is retried here: the uploader does, with a pause.
 */
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { AwsV4Signer } from 'aws4fetch';
import type { S3Settings } from '../config/recording-settings.ts';
import { assertObjectName, type RecordingStore, StoreFault } from './recording-store.ts';

/**
 * `answerMs`: from the request being sent to the answer's headers. An upload may take its bytes' time beside it; what
 * is slower is down.
 */
const LIMITS = { answerMs: 30_000, leastBytesPerMs: 64 };
const CONNECT_LIMIT_MS = 5_000;
const LONGEST_FAULT = 300;

interface Exchange {
  method: 'GET' | 'PUT' | 'HEAD' | 'DELETE';
  key?: string;
  query?: string;
  headers?: Record<string, string>;
  body?: Buffer;
}

export function createS3Store(settings: S3Settings, limits = LIMITS): RecordingStore {
  const { endpoint, bucket, region, accessKeyId, secretAccessKey, prefix } = settings;
  const place = `${endpoint}/${bucket}/${prefix}`;
  // Read where there is such a store: most have none, and a start waits for what is read.
  const { Agent, request } = createRequire(import.meta.url)('undici') as typeof import('undici');
  const dispatcher = new Agent({
    connect: { timeout: CONNECT_LIMIT_MS },
    bodyTimeout: limits.answerMs,
  });

  async function send({ method, key = '', query = '', headers = {}, body }: Exchange) {
    const path = key === '' ? '' : `/${prefix}${key}`;
    const sha256 = createHash('sha256')
      .update(body ?? '')
      .digest('hex');
    const signed = await new AwsV4Signer({
      method,
      url: `${endpoint}/${bucket}${path}${query}`,
      headers: { ...headers, 'x-amz-content-sha256': sha256 },
      accessKeyId,
      secretAccessKey,
      region,
      service: 's3',
    }).sign();
    try {
      const answer = await request(signed.url, {
        method,
        headers: Object.fromEntries(signed.headers as unknown as Iterable<[string, string]>),
        body: body ?? null,
        dispatcher,
        // undici counts it from the beginning of a large body.
        headersTimeout: limits.answerMs + Math.ceil((body?.length ?? 0) / limits.leastBytesPerMs),
      });
      const bytes = new Uint8Array(await answer.body.arrayBuffer());
      return { status: answer.statusCode, headers: answer.headers, bytes };
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      throw new StoreFault(`the object store ${place} does not answer: ${code ?? message}`, { cause: error });
    }
  }

  const refused = (what: string, { status, bytes }: { status: number; bytes: Uint8Array }): StoreFault => {
    const text = Buffer.from(bytes).toString('utf8');
    const code = /<Code>([^<]{1,80})<\/Code>/.exec(text)?.[1];
    return new StoreFault(
      `the object store ${place} ${what}: ${status} ${code ?? text.slice(0, LONGEST_FAULT)}${wayOut(code)}`,
    );
  };

  return {
    kind: 's3',
    place,
    async put(key, path) {
      assertObjectName(key);
      const body = await readFile(path);
      const headers = { 'content-type': 'application/octet-stream' };
      const answer = await send({ method: 'PUT', key, headers, body });
      if (answer.status !== 200) throw refused('did not take a recording', answer);
    },
    async size(key) {
      assertObjectName(key);
      const answer = await send({ method: 'HEAD', key });
      if (answer.status === 404) return null;
      if (answer.status !== 200) throw refused('did not show a recording', answer);
      return Number(answer.headers['content-length']);
    },
    async read(key, start, end) {
      assertObjectName(key);
      const answer = await send({ method: 'GET', key, headers: { range: `bytes=${start}-${end - 1}` } });
      if (answer.status !== 206 && answer.status !== 200) throw refused('did not give a recording', answer);
      // A server may ignore the range and send all, or the end of it.
      const from = answer.status === 200 ? start : 0;
      const bytes = answer.bytes.subarray(from, from + end - start);
      if (bytes.length !== end - start) {
        throw new StoreFault(
          `the object store ${place} gave ${bytes.length} bytes of ${key} instead of ${end - start}`,
        );
      }
      return bytes;
    },
    async remove(key) {
      const was = (await this.size(key)) !== null;
      if (!was) return false;
      const answer = await send({ method: 'DELETE', key });
      if (answer.status !== 204 && answer.status !== 200 && answer.status !== 404) {
        throw refused('did not remove a recording', answer);
      }
      return true;
    },
    async list(wanted) {
      const keys: string[] = [];
      for (let token = ''; ; ) {
        const more = token === '' ? '' : `&continuation-token=${encodeURIComponent(token)}`;
        const query = `?list-type=2&prefix=${encodeURIComponent(prefix + wanted)}${more}`;
        const answer = await send({ method: 'GET', query });
        if (answer.status !== 200) throw refused('did not list recordings', answer);
        const text = Buffer.from(answer.bytes).toString('utf8');
        for (const [, key] of text.matchAll(/<Key>([^<]*)<\/Key>/g)) keys.push(plainText(key!).slice(prefix.length));
        token = plainText(/<NextContinuationToken>([^<]*)</.exec(text)?.[1] ?? '');
        if (token === '') return keys.toSorted();
      }
    },
    close: () => dispatcher.close(),
  };
}

const WAYS: Readonly<Record<string, string>> = {
  NoSuchBucket: '; make the bucket, or correct RECORDING_S3_BUCKET',
  InvalidAccessKeyId: '; correct RECORDING_S3_ACCESS_KEY_ID',
  SignatureDoesNotMatch: '; correct RECORDING_S3_SECRET_ACCESS_KEY or RECORDING_S3_REGION',
  AccessDenied: '; the key needs s3:PutObject, s3:GetObject, s3:DeleteObject and s3:ListBucket',
  RequestTimeTooSkewed: '; set this machine’s clock',
};

function wayOut(code: string | undefined): string {
  return code === undefined ? '' : (WAYS[code] ?? '');
}

function plainText(xml: string): string {
  return xml
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&apos;', "'")
    .replaceAll('&amp;', '&');
}
