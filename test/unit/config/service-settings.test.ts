import { expect, test } from 'vitest';
import { loadServiceSettings } from '../../../src/config/service-settings.ts';

test('an empty environment gives the embedded database and the local address', () => {
  const settings = loadServiceSettings({ PUBLIC_URL: '' });
  expect(settings.databaseUrl).toBeNull();
  expect(settings.publicUrl).toBe('http://127.0.0.1:8080');
});

test('the public address follows the port, and loses its trailing slash', () => {
  expect(loadServiceSettings({ PORT: '9000' }).publicUrl).toBe('http://127.0.0.1:9000');
  expect(loadServiceSettings({ PUBLIC_URL: 'https://voice.example.com/' }).publicUrl).toBe('https://voice.example.com');
});

test('every setting at fault is named at once, with the way out', () => {
  const load = () => loadServiceSettings({ PORT: '70000', DATABASE_URL: 'mysql://x', PARLEY_MASTER_KEY: 'abc' });
  expect(load).toThrow(/PORT must be at most 65535/);
  expect(load).toThrow(/DATABASE_URL must begin with postgresql:/);
  expect(load).toThrow(/PARLEY_MASTER_KEY must be 64 hexadecimal digits \(openssl rand -hex 32\)/);
});
