import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { readOpenIdSettings } from '../../../src/config/openid-settings.ts';

const folder = mkdtempSync(join(tmpdir(), 'parley-openid-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const GIVEN = { OIDC_ISSUER: 'https://login.example.com', OIDC_CLIENT_ID: 'parley' };

it('there is none without an issuer, and with one little is needed', () => {
  expect(readOpenIdSettings({})).toEqual({ settings: null, faults: [] });
  expect(readOpenIdSettings(GIVEN)).toEqual({
    faults: [],
    settings: {
      ...{ issuer: 'https://login.example.com', clientId: 'parley', clientSecret: null, name: 'login.example.com' },
      ...{ scope: 'openid email profile', domains: [], rolesClaim: null, roles: [], allowCidrs: [] },
    },
  });
});

it('reads domains, roles by the values of a claim, and a secret from a file', () => {
  const file = join(folder, 'secret');
  writeFileSync(file, 'canary-of-a-secret\n');
  const { settings, faults } = readOpenIdSettings({
    ...GIVEN,
    OIDC_CLIENT_SECRET_FILE: file,
    OIDC_ALLOWED_DOMAINS: 'Example.com, example.org',
    OIDC_ROLES_CLAIM: 'groups',
    OIDC_ROLES: 'a=b=acme:admin,voice team=north-west:analyst',
    OIDC_ALLOW_CIDRS: '10.1.2.3/32',
  });
  expect(faults).toEqual([]);
  expect(settings).toMatchObject({
    clientSecret: 'canary-of-a-secret',
    domains: ['example.com', 'example.org'],
    roles: [
      { value: 'a=b', enterprise: 'acme', role: 'admin' },
      { value: 'voice team', enterprise: 'north-west', role: 'analyst' },
    ],
    allowCidrs: ['10.1.2.3/32'],
  });
});

it.each<[string, Record<string, string>]>([
  ['OIDC_ISSUER', { OIDC_ISSUER: '', OIDC_CLIENT_SECRET: 'canary' }],
  ['OIDC_ISSUER', { OIDC_ISSUER: 'login.example.com' }],
  ['OIDC_ISSUER', { OIDC_ISSUER: 'https://login.example.com/?tenant=1' }],
  ['OIDC_CLIENT_ID', { OIDC_CLIENT_ID: '' }],
  ['OIDC_CLIENT_SECRET_FILE', { OIDC_CLIENT_SECRET_FILE: join(folder, 'nowhere') }],
  ['OIDC_CLIENT_SECRET_FILE', { OIDC_CLIENT_SECRET: 'canary', OIDC_CLIENT_SECRET_FILE: join(folder, 'secret') }],
  ['OIDC_ALLOWED_DOMAINS', { OIDC_ALLOWED_DOMAINS: '@example.com' }],
  ['OIDC_ROLES', { OIDC_ROLES_CLAIM: 'groups', OIDC_ROLES: 'voice=acme:boss' }],
  ['OIDC_ROLES_CLAIM', { OIDC_ROLES: 'voice=acme:admin' }],
  ['OIDC_ROLES_CLAIM', { OIDC_ROLES_CLAIM: 'groups' }],
  ['OIDC_ALLOW_CIDRS', { OIDC_ALLOW_CIDRS: '10.1.2.3' }],
])('%s at fault is named with the way out, and no secret is shown', (name, change) => {
  const given = Object.fromEntries(Object.entries({ ...GIVEN, ...change }).filter(([, value]) => value !== ''));
  const { settings, faults } = readOpenIdSettings(given);
  expect(settings).toBeNull();
  expect(faults.join('\n')).toContain(name);
  expect(faults.join('\n')).not.toContain('canary');
});
