import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { checkPassword, createHashing, hashingHere, PasswordsBusy } from '../../../src/users/password.ts';

const HASHING = hashingHere();

describe('a password', () => {
  it('is stored as argon2id at 19 MiB and two passes, each time with another salt', async () => {
    const [first, second] = [await HASHING.hash('four walls and a roof'), await HASHING.hash('four walls and a roof')];
    expect(first).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
    expect(first).not.toBe(second);
    expect(await HASHING.matches(first, 'four walls and a roof')).toBe(true);
    expect(await HASHING.matches(first, 'four walls and a rooF')).toBe(false);
  });

  it("is nobody's without a hash, and the same however its letters were composed", async () => {
    expect(await HASHING.matches(null, 'four walls and a roof')).toBe(false);
    const hash = await HASHING.hash('Café au lait, bitte'.normalize('NFD'));
    expect(await HASHING.matches(hash, 'Café au lait, bitte'.normalize('NFC'))).toBe(true);
  });

  it('has 12 to 128 characters, of any kind', () => {
    for (const good of ['twelve chars', '😀'.repeat(12), 'x'.repeat(128)])
      expect(() => checkPassword(good)).not.toThrow();
    for (const bad of ['eleven char', '😀'.repeat(11), 'x'.repeat(129)])
      expect(() => checkPassword(bad)).toThrow(/12 to 128/);
  });
});

describe('a rush of strangers', () => {
  const folder = mkdtempSync(join(tmpdir(), 'parley-hashing-'));
  afterAll(() => rmSync(folder, { recursive: true }));

  it('is refused beyond twenty, and keeps nobody out who is known', async () => {
    const entry = join(folder, 'thread.mjs');
    writeFileSync(
      entry,
      `import { parentPort } from 'node:worker_threads';
       parentPort.on('message', ({ hash }) => parentPort.postMessage(hash === null ? { made: 'x' } : { matches: true }));`,
    );
    const hashing = createHashing(() => entry);
    const done: string[] = [];
    const ask = async (who: string, isStranger: boolean): Promise<void> => {
      const answer = hashing.matches('x', 'some password', isStranger);
      done.push(
        await answer.then(
          () => who,
          (error: unknown) => (error instanceof PasswordsBusy ? 'busy' : 'fault'),
        ),
      );
    };
    await ask('before', false);
    const strangers = Array.from({ length: 40 }, () => ask('stranger', true));
    await Promise.all([...strangers, ask('known', false), ask('known', false)]);
    await hashing.close();
    const looked = done.filter((who) => who !== 'busy' && who !== 'before');
    expect(done).toHaveLength(43);
    expect(looked).toEqual(['stranger', 'known', 'known', ...Array(20).fill('stranger')]);
  });
});
