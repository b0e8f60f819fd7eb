import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { masterKeySetting, readMasterKeys } from '../../../src/config/master-key-setting.ts';

const NEW = 'ab'.repeat(32);
const FORMER = 'cd'.repeat(32);
const folder = mkdtempSync(join(tmpdir(), 'parley-key-setting-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const keysOf = (environment: Record<string, string>): readonly string[] => {
  const { setting, faults } = masterKeySetting(environment);
  expect(faults).toEqual([]);
  return readMasterKeys(setting!, { PATH: process.env['PATH'], ...environment });
};
const faultsOf = (environment: Record<string, string>): string => masterKeySetting(environment).faults.join('\n');
const messageOf = (environment: Record<string, string>): string => {
  try {
    keysOf(environment);
  } catch (error) {
    return (error as Error).message;
  }
  return 'no error';
};

/** A program that does this, by its path. */
function program(name: string, script: string): string {
  const path = join(folder, name);
  writeFileSync(path, `#!/bin/sh\n${script}\n`);
  chmodSync(path, 0o755);
  return path;
}

describe('the master key', () => {
  it('is given with the previous one beside it', () => {
    expect(keysOf({ PARLEY_MASTER_KEY: NEW })).toEqual([NEW]);
    expect(keysOf({ PARLEY_MASTER_KEY: NEW, PARLEY_MASTER_KEY_PREVIOUS: FORMER })).toEqual([NEW, FORMER]);
    expect(faultsOf({ PARLEY_MASTER_KEY_PREVIOUS: FORMER })).toContain('goes with PARLEY_MASTER_KEY');
    expect(faultsOf({ PARLEY_MASTER_KEY: NEW, PARLEY_MASTER_KEY_PREVIOUS: 'canary' })).toMatch(
      /^(?!.*canary).*_PREVIOUS must be 64/,
    );
  });

  it('comes from one place', () => {
    const path = join(folder, 'key');
    writeFileSync(path, `${NEW}\n${FORMER}\n`);
    expect(keysOf({ PARLEY_MASTER_KEY_FILE: path })).toEqual([NEW, FORMER]);
    expect(faultsOf({ PARLEY_MASTER_KEY_FILE: path, PARLEY_MASTER_KEY: NEW })).toContain('are both set');
    expect(messageOf({ PARLEY_MASTER_KEY_FILE: join(folder, 'none') })).toMatch(/none cannot be read \(ENOENT\)/);
    writeFileSync(path, `${NEW}\n${FORMER}\n${NEW}\n`);
    expect(messageOf({ PARLEY_MASTER_KEY_FILE: path })).toContain('one line of 64 hexadecimal digits, or two');
  });
});

describe('the command that fetches it', () => {
  it('is run without a shell: what looks like shell is a parameter', () => {
    const path = program(
      'echo-parameters',
      `[ "$1" = '$(touch ${folder}/injected)' ] && [ "$2" = ';' ] && echo ${NEW}`,
    );
    const command = JSON.stringify([path, `$(touch ${folder}/injected)`, ';']);
    expect(keysOf({ PARLEY_MASTER_KEY_COMMAND: command })).toEqual([NEW]);
    expect(messageOf({ PARLEY_MASTER_KEY_COMMAND: `${path} x; touch ${folder}/injected` })).toContain('exit code 1');
    expect(existsSync(join(folder, 'injected'))).toBe(false);
  });

  it('gets the environment, and may print both keys', () => {
    const path = program('from-environment', `echo "$KMS_ANSWER"; echo ${FORMER}`);
    expect(keysOf({ PARLEY_MASTER_KEY_COMMAND: path, KMS_ANSWER: NEW })).toEqual([NEW, FORMER]);
  });

  it('that fails is told by how it failed, never by what it printed', () => {
    const failing = program('failing', 'echo secret-canary; echo secret-canary >&2; exit 7');
    const killed = program('killed', 'echo secret-canary; kill -9 $$');
    const noKey = program('no-key', 'echo secret-canary');
    const endless = program('endless', 'while :; do echo secret-canary-secret-canary; done');
    const told = [failing, killed, noKey, endless, join(folder, 'not-there')].map((path) =>
      messageOf({ PARLEY_MASTER_KEY_COMMAND: path }),
    );
    expect(told).toEqual([
      expect.stringContaining('ended with exit code 7'),
      expect.stringContaining('was ended by SIGKILL'),
      expect.stringContaining('printed no master key'),
      expect.stringContaining('printed more than 4096 bytes'),
      expect.stringContaining('could not be run (ENOENT)'),
    ]);
    expect(told.join()).not.toContain('canary');
  });

  it('that hangs is ended', () => {
    const path = program('hangs', 'echo secret-canary; exec sleep 600');
    const { setting } = masterKeySetting({ PARLEY_MASTER_KEY_COMMAND: path });
    expect(() => readMasterKeys(setting!, {}, 100)).toThrow(/gave no key within 0.1 s and was ended/);
  });

  it('that is no list of texts is refused before it is run', () => {
    for (const bad of ['[', '[]', '[1]', '[""]', '["a", null]']) {
      expect(faultsOf({ PARLEY_MASTER_KEY_COMMAND: bad }), bad).toContain('JSON array');
    }
  });
});
