/** What every `RecordingStore` does. The suite is given a way to open one; each test has names of its own. */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type RecordingStore, StoreFault } from '../../../src/recordings/recording-store.ts';

export function conformRecordingStore(name: string, open: () => Promise<RecordingStore>): void {
  describe(`a recording store ${name}`, () => {
    let store: RecordingStore;
    const folder = mkdtempSync(join(tmpdir(), 'parley-store-source-'));
    beforeAll(async () => {
      store = await open();
    });
    afterAll(async () => {
      await store.close();
      rmSync(folder, { recursive: true });
    });

    async function put(key: string, bytes: Buffer): Promise<void> {
      const path = join(folder, 'source');
      writeFileSync(path, bytes);
      await store.put(key, path);
    }

    it('gives back any range of what was put, byte for byte, and its size', async () => {
      const bytes = randomBytes(300_000);
      await put('2026/11/21/one/1.sealed', bytes);
      expect(await store.size('2026/11/21/one/1.sealed')).toBe(300_000);
      for (const [start, end] of [
        [0, 300_000],
        [0, 1],
        [65_600, 131_216],
        [299_999, 300_000],
      ] as const) {
        const got = await store.read('2026/11/21/one/1.sealed', start, end);
        expect(Buffer.from(got).equals(bytes.subarray(start, end)), `${start} to ${end}`).toBe(true);
      }
    });

    it('replaces what has the same name', async () => {
      await put('2026/11/21/two/1.sealed', Buffer.from('first, and longer'));
      await put('2026/11/21/two/1.sealed', Buffer.from('second'));
      expect(await store.size('2026/11/21/two/1.sealed')).toBe(6);
      expect(Buffer.from(await store.read('2026/11/21/two/1.sealed', 0, 6)).toString()).toBe('second');
    });

    it('knows what it does not have, and removing that is fine', async () => {
      expect(await store.size('2026/11/21/none/1.sealed')).toBeNull();
      expect(await store.remove('2026/11/21/none/1.sealed')).toBe(false);
      await put('2026/11/21/three/1.sealed', Buffer.from('x'));
      expect(await store.remove('2026/11/21/three/1.sealed')).toBe(true);
      expect(await store.size('2026/11/21/three/1.sealed')).toBeNull();
      await expect(store.read('2026/11/21/three/1.sealed', 0, 1)).rejects.toThrow(StoreFault);
    });

    it('refuses a range that is not there instead of giving less', async () => {
      await put('2026/11/21/four/1.sealed', Buffer.from('ten bytes!'));
      await expect(store.read('2026/11/21/four/1.sealed', 5, 20)).rejects.toThrow(StoreFault);
    });

    it('lists names by their beginning, in order', async () => {
      for (const key of [
        '2026/12/01/b/1.sealed',
        '2026/12/01/a/2.sealed',
        '2026/12/01/a/1.sealed',
        '2026/12/02/c/1.sealed',
      ]) {
        await put(key, Buffer.from(key));
      }
      expect(await store.list('2026/12/01/')).toEqual([
        '2026/12/01/a/1.sealed',
        '2026/12/01/a/2.sealed',
        '2026/12/01/b/1.sealed',
      ]);
      expect(await store.list('1999/')).toEqual([]);
    });

    it('takes no name that could lead elsewhere', async () => {
      for (const key of ['../x', '/etc/passwd', 'a/../../b', 'a//b', '', 'a b', 'ü']) {
        await expect(store.size(key), key).rejects.toThrow(StoreFault);
        await expect(put(key, Buffer.from('x')), key).rejects.toThrow(StoreFault);
      }
    });

    it('says where it is', () => {
      expect(store.place.length).toBeGreaterThan(5);
      expect(store.place).not.toMatch(/S3RVER|secret/i);
    });
  });
}
