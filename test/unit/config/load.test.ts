import { describe, expect, it } from 'vitest';
import { loadConfig } from '../../../src/config/load.ts';

const COMPLETE = {
  DATABASE_URL: 'postgresql://user:pass-canary@127.0.0.1/parley',
  PUBLIC_URL: 'https://voice.example.com/',
  PARLEY_MASTER_KEY: 'ab'.repeat(32),
  PARLEY_RUN_DIR: '/tmp/run',
};

const messageOf = (environment: Record<string, string>): string => {
  try {
    loadConfig(environment);
  } catch (error) {
    return (error as Error).message;
  }
  return 'no error';
};

describe('the control process settings', () => {
  it('fills what is absent, cuts the slash of PUBLIC_URL and freezes the result', () => {
    const config = loadConfig({ ...COMPLETE, REDIS_URL: '', CARRIER_API_BASE_PLIVO: 'http://127.0.0.1:4010/' });
    expect(config).toMatchObject({
      redisUrl: null,
      publicUrl: 'https://voice.example.com',
      carrierApiBase: { plivo: 'http://127.0.0.1:4010' },
      webhookAllowCidrs: [],
      modelAllowCidrs: [],
      webhookRetryScale: 1,
      logLevel: 'info',
    });
    expect(Object.isFrozen(config)).toBe(true);
  });

  it('names every variable at fault in one error, each with its way out', () => {
    const message = messageOf({ WEBHOOK_ALLOW_CIDRS: 'everything', CARRIER_API_BASE_PLIVO: 'nowhere' });
    for (const expected of [
      'DATABASE_URL is missing: set it to postgresql://',
      'PUBLIC_URL must be the http(s) address',
      'PARLEY_MASTER_KEY is missing: set it to 64 hexadecimal digits',
      'PARLEY_RUN_DIR is missing',
      'WEBHOOK_ALLOW_CIDRS must be ranges',
      'CARRIER_API_BASE_PLIVO must be an http(s) address',
    ]) {
      expect(message).toContain(expected);
    }
  });

  it('never repeats a value in an error, since it may be a secret', () => {
    const message = messageOf({ ...COMPLETE, PARLEY_MASTER_KEY: 'key-canary', PUBLIC_URL: 'ftp://url-canary' });
    expect(message).toContain('PARLEY_MASTER_KEY must be 64');
    expect(message).not.toContain('canary');
  });
});
