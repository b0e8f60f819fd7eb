import { describe, expect, test } from 'vitest';
import {
  addressOfPeer,
  createClientAddresses,
  type ProxyHeader,
} from '../../../../../media/io/socket-server/client-address.ts';
import type { HeaderList } from '../../../../../media/io/socket-server/http-exchange.ts';

const CIDRS = ['10.0.0.0/8', '127.0.0.9/32', 'fd00::/8'];
const resolved = (peer: string, headers: HeaderList, header: ProxyHeader = 'auto'): string =>
  createClientAddresses({ cidrs: CIDRS, header }).of(peer, headers);
const listed = (list: string, peer = '10.0.0.1'): string => resolved(peer, [['x-forwarded-for', list]]);
const told = (list: string, peer = '10.0.0.1'): string => resolved(peer, [['forwarded', list]]);

describe('the address of a client', () => {
  test('is that of the connection when no proxy is trusted, or another one, whatever the headers say', () => {
    const forged: HeaderList = [
      ['x-forwarded-for', '198.51.100.7'],
      ['forwarded', 'for=198.51.100.7'],
      ['x-real-ip', '198.51.100.7'],
      ['via', '1.1 proxy'],
    ];
    expect(resolved('203.0.113.5', forged)).toBe('203.0.113.5');
    expect(createClientAddresses({ cidrs: [], header: 'auto' }).of('10.0.0.1', forged)).toBe('10.0.0.1');
    expect(resolved('127.0.0.1', forged)).toBe('127.0.0.1');
    expect(resolved('10.0.0.1', [])).toBe('10.0.0.1');
  });

  test.each([
    ['one proxy', '198.51.100.7', '198.51.100.7'],
    ['a client that claims another address', '192.0.2.66, 198.51.100.7', '198.51.100.7'],
    ['a client that claims to be a trusted proxy', '192.0.2.66, 10.0.0.3, 198.51.100.7', '198.51.100.7'],
    ['three proxies', '192.0.2.66, 198.51.100.7, 10.0.0.3,10.0.0.2', '198.51.100.7'],
    ['a client within the trusted ranges', '10.9.9.9', '10.9.9.9'],
    ['nothing but proxies', '10.0.0.4, 10.0.0.3', '10.0.0.4'],
    ['ports', '198.51.100.7:4711', '198.51.100.7'],
    ['IPv6', '2001:DB8:0:0:0::1', '2001:db8::1'],
    ['IPv6 in brackets with a port', '[2001:db8::1]:443, fd00::2', '2001:db8::1'],
    ['IPv4 in IPv6', '::ffff:198.51.100.7, ::ffff:10.0.0.2', '198.51.100.7'],
    ['blanks and tabs', '  198.51.100.7\t ,  10.0.0.2 ', '198.51.100.7'],
  ])('X-Forwarded-For, %s: %s', (_case, list, client) => expect(listed(list)).toBe(client));

  test.each([
    'unknown',
    '_hidden',
    '',
    '127.1',
    '0x7f.0.0.1',
    '192.0.2.066',
    '192.0.2.1/24',
    '192.0.2.256',
    'fe80::1%eth0',
    '[2001:db8::1',
    '2001:db8::1]:443',
    '[192.0.2.1',
    'localhost',
    '192.0.2.1 192.0.2.2',
    '<script>',
    '\u0000',
    'é',
    '٣.٣.٣.٣',
    '1'.repeat(4000),
  ])('garbage ends the walk at the last address that was believed: %j', (garbage) => {
    expect(listed(`192.0.2.66, ${garbage}, 10.0.0.2`)).toBe('10.0.0.2');
    expect(listed(garbage)).toBe('10.0.0.1');
    expect(listed(`${garbage}, 198.51.100.7`)).toBe('198.51.100.7');
  });

  test('several lines of one header are one list, in their order', () => {
    const lines: HeaderList = [
      ['x-forwarded-for', '192.0.2.66'],
      ['host', 'a'],
      ['x-forwarded-for', '198.51.100.7, 10.0.0.2'],
    ];
    expect(resolved('10.0.0.1', lines)).toBe('198.51.100.7');
  });

  test.each([
    ['for=198.51.100.7', '198.51.100.7'],
    ['For="198.51.100.7:4711";proto=https;by=10.0.0.1', '198.51.100.7'],
    ['for=192.0.2.66, proto=http;FOR="[2001:db8::7]:443";host=a, for=10.0.0.2', '2001:db8::7'],
    ['for=192.0.2.66, for="_gazonk"', '10.0.0.1'],
    ['for=unknown', '10.0.0.1'],
    ['proto=https', '10.0.0.1'],
    ['for=198.51.100.7;for=192.0.2.66', '10.0.0.1'],
    ['for=198.51.100.7 192.0.2.66', '10.0.0.1'],
    ['for="evil, for=198.51.100.7', '198.51.100.7'],
    ['for="evil\\", for=198.51.100.7', '198.51.100.7'],
    ['for=192.0.2.66;x="a, for=198.51.100.7', '198.51.100.7'],
    ['', '10.0.0.1'],
  ])('Forwarded: %s', (list, client) => expect(told(list)).toBe(client));

  test('X-Forwarded-For wins where both are there, unless the setting names the other', () => {
    const both: HeaderList = [
      ['forwarded', 'for=198.51.100.1'],
      ['x-forwarded-for', '198.51.100.2'],
    ];
    expect(resolved('10.0.0.1', both)).toBe('198.51.100.2');
    expect(resolved('10.0.0.1', both, 'x-forwarded-for')).toBe('198.51.100.2');
    expect(resolved('10.0.0.1', both, 'forwarded')).toBe('198.51.100.1');
    expect(resolved('10.0.0.1', [both[1]!], 'forwarded')).toBe('10.0.0.1');
    expect(resolved('10.0.0.1', [both[0]!], 'x-forwarded-for')).toBe('10.0.0.1');
    // An empty list is a list: a client must not be able to choose which one counts.
    expect(resolved('10.0.0.1', [both[0]!, ['x-forwarded-for', '']])).toBe('10.0.0.1');
  });

  test('has one spelling, and a connection that went has nobody', () => {
    expect(addressOfPeer('0000:0000:0000:0000:0000:ffff:c0a8:0001')).toBe('192.168.0.1');
    expect(addressOfPeer('::ffff:192.168.0.1')).toBe('192.168.0.1');
    expect(addressOfPeer('0000:0000:0000:0000:0000:0000:0000:0001')).toBe('::1');
    expect(addressOfPeer('fe80::1%eth0')).toBe('fe80::1');
    expect(addressOfPeer('')).toBe('0.0.0.0');
    expect(resolved('0000:0000:0000:0000:0000:ffff:0a00:0001', [['x-forwarded-for', '198.51.100.7']])).toBe(
      '198.51.100.7',
    );
  });
});
