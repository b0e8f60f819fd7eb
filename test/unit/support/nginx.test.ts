import { mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { freePort } from '../../../bench/harness/free-port.ts';
import { hasNginx, startNginx } from '../../support/nginx.ts';

it.skipIf(!hasNginx)('an nginx whose start fails is not left behind', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'parley-nginx-'));
  try {
    const listening = { port: await freePort(), connectsFrom: '127.0.0.1', upstreamPort: 1, isPlain: true };
    const spare = await freePort();
    let reads = 0;
    const strange = {
      ...listening,
      /** nginx is told one that it can take; whoever asks afterwards fails. */
      get port() {
        return reads++ === 0 ? spare : 70_000;
      },
    };
    await expect(startNginx(folder, [listening, strange])).rejects.toThrow(/70000/);
    const isOpen = await new Promise<boolean>((resolve) => {
      const socket = connect(listening.port, '127.0.0.1', () => {
        socket.destroy();
        resolve(true);
      });
      socket.on('error', () => resolve(false));
    });
    expect(isOpen).toBe(false);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

it.skipIf(!hasNginx)('one that ends by itself is told with what it said', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'parley-nginx-'));
  try {
    const ports = [{ port: await freePort(), connectsFrom: 'nowhere', upstreamPort: 1, isPlain: true }];
    await expect(startNginx(folder, ports)).rejects.toThrow(/nginx has ended: .*nowhere/s);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
