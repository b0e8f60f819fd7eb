/** A real S3 server (s3rver) with a bucket, on a free port of the loopback. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import S3rver from 's3rver';
import type { StoreSettings } from '../../src/config/recording-settings.ts';

export interface TestStore {
  settings: StoreSettings;
  /** Where its bytes lie on this machine; null: under the data folder. */
  folder: string | null;
  close(): Promise<void>;
}

export const BUCKET = 'acme-recordings';

export async function startS3(): Promise<TestStore & { settings: { s3: NonNullable<StoreSettings['s3']> } }> {
  const folder = mkdtempSync(join(tmpdir(), 'parley-s3-'));
  const server = new S3rver({
    address: '127.0.0.1',
    port: 0,
    silent: true,
    directory: folder,
    configureBuckets: [{ name: BUCKET, configs: [] }],
  });
  const { port } = await server.run();
  return {
    settings: {
      kind: 's3',
      s3: {
        endpoint: `http://127.0.0.1:${port}`,
        bucket: BUCKET,
        region: 'us-east-1',
        accessKeyId: 'S3RVER',
        secretAccessKey: 'S3RVER',
        prefix: 'parley/',
      },
    },
    folder,
    async close() {
      await server.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
