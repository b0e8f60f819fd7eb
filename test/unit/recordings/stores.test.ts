import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { readRecordingSettings } from '../../../src/config/recording-settings.ts';
import { createDiskStore } from '../../../src/recordings/disk-store.ts';
import { openStores } from '../../../src/recordings/open-stores.ts';
import { createS3Store } from '../../../src/recordings/s3-store.ts';
import { startS3 } from '../../harness/s3-server.ts';
import { isSignedWith } from '../../support/signature-v4-judge.ts';
import { conformRecordingStore } from './store-conformance.ts';

const closings: (() => Promise<void> | void)[] = [];
afterAll(async () => {
  for (const close of closings) await close();
});

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'parley-stores-'));
  closings.push(() => rmSync(folder, { recursive: true }));
  return folder;
}

conformRecordingStore('on disk', async () => createDiskStore(join(newFolder(), 'recordings', 'store')));
conformRecordingStore('on an S3 server', async () => {
  const server = await startS3();
  closings.push(server.close);
  return createS3Store(server.settings.s3);
});

describe('an object store in trouble', () => {
  const source = join(newFolder(), 'source');
  writeFileSync(source, 'sealed');

  it('tells what is wrong with the settings: a key that nobody knows, a bucket that is not there', async () => {
    const server = await startS3();
    closings.push(server.close);
    const { s3 } = server.settings;
    const wrong = createS3Store({ ...s3, accessKeyId: 'NOBODY' });
    await expect(wrong.put('a/1.sealed', source)).rejects.toThrow(/InvalidAccessKeyId.*RECORDING_S3_ACCESS_KEY_ID/);
    const absent = createS3Store({ ...s3, bucket: 'nobody-made-it' });
    await expect(absent.put('a/1.sealed', source)).rejects.toThrow(/NoSuchBucket.*make the bucket/);
    await wrong.close();
    await absent.close();
  });

  it('gets every request signed by the book, and says what to do when the secret is wrong', async () => {
    // The example of the book itself: the judge is right.
    const example = {
      method: 'GET',
      url: '/test.txt',
      headers: {
        host: 'examplebucket.s3.amazonaws.com',
        range: 'bytes=0-9',
        'x-amz-content-sha256': 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
        'x-amz-date': '20130524T000000Z',
        authorization:
          'AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request,SignedHeaders=host;range;x-amz-content-sha256;x-amz-date,Signature=f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41',
      },
    };
    expect(isSignedWith('wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY', example)).toBe(true);
    expect(isSignedWith('another', example)).toBe(false);

    const seen: [string, boolean][] = [];
    const server = createServer((request, response) => {
      const { method = '', url = '', headers } = request;
      const isGood = isSignedWith('right', { method, url, headers });
      seen.push([method, isGood]);
      request.resume().on('end', () => {
        if (!isGood) response.writeHead(403).end('<Error><Code>SignatureDoesNotMatch</Code></Error>');
        else if (method === 'DELETE') response.writeHead(204).end();
        else
          response
            .writeHead(method === 'GET' && headers.range !== undefined ? 206 : 200, {
              'content-length': method === 'GET' ? 4 : 0,
            })
            .end(method === 'GET' ? 'four' : undefined);
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    closings.push(() => void server.close());
    const { port } = server.address() as AddressInfo;
    const settings = {
      endpoint: `http://127.0.0.1:${port}`,
      bucket: 'b-1',
      region: 'eu-west-3',
      accessKeyId: 'k',
      secretAccessKey: 'right',
      prefix: 'a.b/c_d/',
    };
    const store = createS3Store(settings);
    await store.put('2026/11/21/x/1.sealed', source);
    await store.read('2026/11/21/x/1.sealed', 0, 4);
    await store.remove('2026/11/21/x/1.sealed');
    await store.list('2026/11/21/');
    expect(seen).toEqual([
      ['PUT', true],
      ['GET', true],
      ['HEAD', true],
      ['DELETE', true],
      ['GET', true],
    ]);
    const wrong = createS3Store({ ...settings, secretAccessKey: 'wrong' });
    await expect(wrong.put('a/1.sealed', source)).rejects.toThrow(
      /SignatureDoesNotMatch.*RECORDING_S3_SECRET_ACCESS_KEY/,
    );
    await store.close();
    await wrong.close();
  });

  it('that is down, says nothing, or breaks off is a StoreFault that names the place, never a hang', async () => {
    const kinds = ['silent', 'cut', 'short'] as const;
    for (const kind of kinds) {
      const server: Server = createServer((request, response) => {
        if (kind === 'cut') request.socket.destroy();
        if (kind === 'short') response.writeHead(206, { 'content-length': 4 }).end('less');
      });
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      const { port } = server.address() as AddressInfo;
      const settings = {
        endpoint: `http://127.0.0.1:${port}`,
        bucket: 'b-1',
        region: 'r',
        accessKeyId: 'k',
        secretAccessKey: 's',
        prefix: '',
      };
      const store = createS3Store(settings, { answerMs: 200, leastBytesPerMs: 64 });
      await expect(store.read('a/1.sealed', 0, 100), kind).rejects.toThrow(`http://127.0.0.1:${port}`);
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await expect(store.put('a/1.sealed', source), 'down').rejects.toThrow('does not answer: ECONNREFUSED');
      await store.close();
    }
  });
});

it.each([
  ['that is slow gets the time that its bytes need', 1_024, true],
  ['that takes a beginning and then nothing is left after that time', 131_072, false],
])('an object store %s', async (_what, leastBytesPerMs, isTaken) => {
  const large = join(newFolder(), 'large');
  writeFileSync(large, Buffer.alloc(16 * 1_048_576));
  const server = createServer((request, response) => {
    if (isTaken) setTimeout(() => request.resume().on('end', () => response.end()), 1_500);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const endpoint = `http://127.0.0.1:${port}`;
  const settings = { endpoint, bucket: 'b-1', region: 'r', accessKeyId: 'k', secretAccessKey: 's', prefix: '' };
  const store = createS3Store(settings, { answerMs: 100, leastBytesPerMs });
  const put = store.put('a/1.sealed', large);
  if (isTaken) await put;
  else await expect(put).rejects.toThrow(`${endpoint}/b-1/ does not answer`);
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  await store.close();
});

describe('the settings of the store', () => {
  const S3 = {
    RECORDING_STORE: 's3',
    RECORDING_S3_BUCKET: 'acme-recordings',
    RECORDING_S3_ACCESS_KEY_ID: 'id',
    RECORDING_S3_SECRET_ACCESS_KEY: 'secret-canary',
  };

  it('are the disk by default, and Amazon’s own address where only region and bucket are said', () => {
    expect(readRecordingSettings({})).toEqual({ settings: { kind: 'disk', s3: null }, faults: [] });
    const { settings, faults } = readRecordingSettings({
      ...S3,
      RECORDING_S3_REGION: 'eu-central-1',
      RECORDING_S3_PREFIX: 'parley',
    });
    expect(faults).toEqual([]);
    expect(settings.s3).toMatchObject({ endpoint: 'https://s3.eu-central-1.amazonaws.com', prefix: 'parley/' });
  });

  it('that are wrong are named one by one, with the way out and without the secret', () => {
    const { faults } = readRecordingSettings({
      ...S3,
      RECORDING_S3_BUCKET: 'Not A Bucket',
      RECORDING_S3_ACCESS_KEY_ID: '',
      RECORDING_S3_ENDPOINT: 'minio:9000/path',
      RECORDING_S3_PREFIX: '../up',
    });
    expect(faults.map((fault) => fault.trim().split(' ')[0])).toEqual([
      'RECORDING_S3_PREFIX',
      'RECORDING_S3_BUCKET',
      'RECORDING_S3_ACCESS_KEY_ID',
      'RECORDING_S3_ENDPOINT',
    ]);
    expect(faults.join()).not.toContain('canary');
    expect(readRecordingSettings({ RECORDING_STORE: 'ftp' }).faults).toEqual(['  RECORDING_STORE must be disk or s3']);
  });

  it('that were changed leave older recordings readable where they lie, and say so when that place is not set up any more', () => {
    const both = openStores({ kind: 'disk', s3: readRecordingSettings(S3).settings.s3 }, newFolder());
    expect([both.current.kind, both.of('s3').kind]).toEqual(['disk', 's3']);
    expect(() => openStores({ kind: 'disk', s3: null }, newFolder()).of('s3')).toThrow('RECORDING_S3_BUCKET');
  });
});
