/** The stores that every test of recordings runs on: a folder, and a real S3 server (s3rver). */
import { startS3, type TestStore } from '../harness/s3-server.ts';

export const STORES: readonly [name: string, start: () => Promise<TestStore>][] = [
  ['on disk', async () => ({ settings: { kind: 'disk', s3: null }, folder: null, close: async () => {} })],
  ['on an S3 server', startS3],
];
