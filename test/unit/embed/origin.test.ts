import { describe, expect, it } from 'vitest';
import { isAllowed, isOrigin, readAllowEntry } from '../../../src/embed/origin.ts';

describe('a bare origin', () => {
  it.each([
    'https://example.com',
    'https://example.com:8443',
    'http://localhost:3000',
    'http://127.0.0.1:8080',
    'http://[::1]:3000',
    'https://[2001:db8::1]',
    'https://xn--mnchen-3ya.de',
    'https://192.0.2.7',
    'https://a-b.example',
  ])('%s is one', (origin) => expect(isOrigin(origin)).toBe(true));

  it.each([
    ['null', 'a sandboxed frame'],
    ['', 'nothing'],
    ['https://Example.com', 'upper case'],
    ['HTTPS://example.com', 'upper case in the scheme'],
    ['https://example.com:443', 'the default port'],
    ['http://example.com:80', 'the default port of http'],
    ['https://example.com/', 'a slash'],
    ['https://example.com/path', 'a path'],
    ['https://example.com?x', 'a query'],
    ['https://example.com#x', 'a fragment'],
    ['https://user@example.com', 'a user'],
    ['https://user:p@example.com', 'a password'],
    ['https://example.com@evil.com', 'another host behind a user'],
    ['https://example.com.', 'a trailing dot'],
    ['https://example.com\\.evil.com', 'a backslash'],
    ['https://münchen.de', 'no punycode'],
    ['https://fa\u00df.de', 'no punycode'],
    ['https://exa\tmple.com', 'a tab'],
    [' https://example.com', 'a blank'],
    ['https://127.1', 'a short address'],
    ['https://0x7f.0.0.1', 'a hexadecimal address'],
    ['https://[::FFFF:7f00:1]', 'an address in another form'],
    ['file://', 'a file'],
    ['data:text/html,x', 'data'],
    ['chrome-extension://abcdef', 'an extension'],
    ['capacitor://localhost', 'an app'],
    ['ws://example.com', 'a socket'],
    ['blob:https://example.com/1', 'a blob'],
    ['//example.com', 'no scheme'],
    ['example.com', 'a host alone'],
    [`https://${'a.'.repeat(200)}com`, 'too long'],
  ])('%s is none: %s', (text) => expect(isOrigin(text)).toBe(false));

  it.each([undefined, null, 7, {}, ['https://example.com']])('%j is none', (value) => {
    expect(isOrigin(value)).toBe(false);
  });
});

describe('an entry of the allow-list', () => {
  it.each([
    ['https://example.com', 'https://example.com'],
    ['example.com', 'https://example.com'],
    ['HTTPS://Example.COM/', 'https://example.com'],
    ['https://example.com:443', 'https://example.com'],
    ['example.com:8443', 'https://example.com:8443'],
    ['https://münchen.de', 'https://xn--mnchen-3ya.de'],
    ['*.example.com', 'https://*.example.com'],
    ['https://*.Example.com:8443', 'https://*.example.com:8443'],
    ['http://localhost:3000', 'http://localhost:3000'],
    ['http://127.0.0.1', 'http://127.0.0.1'],
    ['http://[::1]:3000', 'http://[::1]:3000'],
  ])('%s is kept as %s', (typed, entry) => expect(readAllowEntry(typed)).toEqual({ ok: true, entry }));

  it.each([
    'http://example.com',
    'https://example.com/shop',
    'https://example.com?x=1',
    'https://user@example.com',
    'https://example.com.',
    '*',
    '*.com',
    'https://*.192.0.2.7',
    'https://a.*.example.com',
    'ftp://example.com',
    'null',
    '',
    'https://',
  ])('%s is refused with a sentence', (typed) => {
    const read = readAllowEntry(typed);
    expect(read.ok ? read.entry : read.why.length > 20).toBe(true);
  });
});

describe('admission', () => {
  it.each([
    ['https://example.com', ['https://example.com'], true],
    ['https://example.com', [], false],
    ['https://example.com:8443', ['https://example.com'], false],
    ['http://example.com', ['http://example.com'], false],
    ['https://evilexample.com', ['https://example.com'], false],
    ['https://example.com.evil.com', ['https://example.com'], false],
    ['https://www.example.com', ['https://example.com'], false],
    ['https://www.example.com', ['https://*.example.com'], true],
    ['https://a.b.example.com', ['https://*.example.com'], true],
    ['https://example.com', ['https://*.example.com'], false],
    ['https://evilexample.com', ['https://*.example.com'], false],
    ['https://www.example.com.evil.com', ['https://*.example.com'], false],
    ['https://www.example.com:8443', ['https://*.example.com'], false],
    ['https://www.example.com:8443', ['https://*.example.com:8443'], true],
    ['http://localhost:3000', ['http://localhost:3000'], true],
    ['http://localhost:3001', ['http://localhost:3000'], false],
    ['https://xn--xample-2of.com', ['https://example.com'], false],
  ] as const)('%s by %j: %s', (origin, entries, expected) => expect(isAllowed(origin, entries)).toBe(expected));
});
