import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { expect, test } from 'vitest';
import { claimPort } from '../../../src/supervisor/port-check.ts';

test('a port that somebody listens on is refused with the way out, and accepted when it is free again', async () => {
  const holder = createServer();
  await new Promise<void>((done) => holder.listen(0, '127.0.0.1', done));
  const { port } = holder.address() as AddressInfo;
  await expect(claimPort('127.0.0.1', port)).rejects.toThrow(`Port ${port} on 127.0.0.1 is taken`);
  await expect(claimPort('127.0.0.1', port)).rejects.toThrow('set PORT');
  await new Promise((done) => holder.close(done));
  const release = await claimPort('127.0.0.1', port);
  // Nobody listens yet: of two that start together the second is refused all the same, whichever loopback it names.
  await expect(claimPort('0.0.0.0', port)).rejects.toThrow('is taken by another Parley');
  release();
  (await claimPort('127.0.0.1', port))();
});
