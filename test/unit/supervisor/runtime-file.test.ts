import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { loadOperatorSettings } from '../../../src/config/operator-settings.ts';
import { masterKeyFileIn, readMasterKey } from '../../../src/supervisor/master-key.ts';
import { writeRuntimeFile } from '../../../src/supervisor/runtime-file.ts';

const DATABASE_URL = 'postgresql://parley:pw@127.0.0.1:5432/parley';
let dataDir: string;
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'parley-runtime-'));
});
afterEach(() => rmSync(dataDir, { recursive: true }));

function run(masterKeyFile: string | null): string {
  return writeRuntimeFile(dataDir, {
    databaseUrl: DATABASE_URL,
    runDir: '/run/x',
    publicUrl: 'http://x',
    masterKeyFile,
    host: '127.0.0.1',
    port: 8080,
    metricsHost: '127.0.0.1',
    metricsPort: 9464,
    trustedProxies: ['10.0.0.5/32'],
    carrierApiBase: {},
    webhookAllowCidrs: '10.0.0.0/8, fd00::/8',
    modelAllowCidrs: '192.168.1.0/24',
    recordingStore: 's3',
  });
}

describe('runtime.json', () => {
  it('leads the command line to a generated key, with mode 0600 and without the key itself', () => {
    const [key = ''] = readMasterKey(null, dataDir, null, () => {}).keys;
    const path = run(masterKeyFileIn(dataDir));
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(readFileSync(path, 'utf8')).not.toContain(key);
    const settings = loadOperatorSettings({ PARLEY_DATA_DIR: dataDir });
    expect(settings.masterKeys()).toEqual([key]);
    expect(settings).toMatchObject({
      databaseUrl: DATABASE_URL,
      dataDir,
      generatedKeyFile: masterKeyFileIn(dataDir),
      webhookAllowCidrs: ['10.0.0.0/8', 'fd00::/8'],
      modelAllowCidrs: ['192.168.1.0/24'],
    });
  });

  it('never lends the key file of an earlier run to a service that was given its key', () => {
    writeFileSync(masterKeyFileIn(dataDir), 'ab'.repeat(32));
    run(null);
    const environment = { PARLEY_DATA_DIR: dataDir };
    expect(loadOperatorSettings(environment).masterKeys()).toEqual([]);
    const given = { ...environment, PARLEY_MASTER_KEY: 'cd'.repeat(32) };
    expect(loadOperatorSettings(given).masterKeys()).toEqual(['cd'.repeat(32)]);
  });
});
