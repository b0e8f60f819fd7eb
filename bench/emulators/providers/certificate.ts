/**
 * An authority and a certificate of its for `localhost`, 127.0.0.1 and ::1, made anew at each start: emulated providers
 * speak TLS as the real ones do, and no key lies in a repository. A client trusts the authority by
 * `NODE_EXTRA_CA_CERTS`, or by a `ca` of its own. X.509 v3 (RFC 5280) with P-256 keys is a few fields of DER, which is
 * why no package makes it: the emulators run from an installed Parley too.
 */
import { generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';

export interface Certificate {
  /** PEM of the authority: what a client must trust. */
  caPem: string;
  /** PEM of the server's certificate, and of its private key. */
  certPem: string;
  keyPem: string;
}

const DAY_MS = 86_400_000;
const VALID_DAYS = 7;
const LOOPBACK_4 = Buffer.from([127, 0, 0, 1]);
const LOOPBACK_6 = Buffer.from([...Array<number>(15).fill(0), 1]);

const SEQUENCE = 0x30;
const SET = 0x31;
const OID = 0x06;
const INTEGER = 0x02;
const BOOLEAN = 0x01;
const BIT_STRING = 0x03;
const OCTET_STRING = 0x04;
const UTF8_STRING = 0x0c;
const UTC_TIME = 0x17;
/** Context-specific: `[n]`, and `[n]` around other fields. */
const tagged = (n: number): number => 0x80 | n;
const around = (n: number): number => 0xa0 | n;

const ECDSA_WITH_SHA256 = der(SEQUENCE, oid('1.2.840.10045.4.3.2'));
const COMMON_NAME = '2.5.4.3';
const SUBJECT_ALTERNATIVE_NAME = '2.5.29.17';
const BASIC_CONSTRAINTS = '2.5.29.19';
const KEY_USAGE = '2.5.29.15';
const EXTENDED_KEY_USAGE = '2.5.29.37';
const SERVER_AUTHENTICATION = '1.3.6.1.5.5.7.3.1';
/** Bits of a key's usage, from the left: the count of unused bits, and the bits. */
const SIGNS_CERTIFICATES = Buffer.from([2, 0b0000_0100]);
const SIGNS_HANDSHAKES = Buffer.from([7, 0b1000_0000]);

export function createCertificate(): Certificate {
  const authority = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const server = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const issuer = 'Parley emulated providers';
  const ca = certificate(issuer, issuer, authority.publicKey, authority.privateKey, [
    extension(BASIC_CONSTRAINTS, der(SEQUENCE, der(BOOLEAN, Buffer.from([0xff]))), true),
    extension(KEY_USAGE, der(BIT_STRING, SIGNS_CERTIFICATES), true),
  ]);
  const names = [der(tagged(2), Buffer.from('localhost')), der(tagged(7), LOOPBACK_4), der(tagged(7), LOOPBACK_6)];
  const leaf = certificate(issuer, 'localhost', server.publicKey, authority.privateKey, [
    extension(BASIC_CONSTRAINTS, der(SEQUENCE), true),
    extension(KEY_USAGE, der(BIT_STRING, SIGNS_HANDSHAKES), true),
    extension(EXTENDED_KEY_USAGE, der(SEQUENCE, oid(SERVER_AUTHENTICATION)), false),
    extension(SUBJECT_ALTERNATIVE_NAME, der(SEQUENCE, ...names), false),
  ]);
  return {
    caPem: pem(ca),
    certPem: pem(leaf),
    keyPem: server.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  };
}

function certificate(issuer: string, subject: string, key: KeyObject, signer: KeyObject, extensions: Buffer[]): Buffer {
  const now = Date.now();
  const serial = randomBytes(16);
  // Positive, and without a leading byte of zeros.
  serial[0] = 0x40 | (serial[0]! & 0x3f);
  const toBeSigned = der(
    SEQUENCE,
    der(around(0), der(INTEGER, Buffer.from([2]))),
    der(INTEGER, serial),
    ECDSA_WITH_SHA256,
    nameOf(issuer),
    der(SEQUENCE, utcTime(now - DAY_MS), utcTime(now + VALID_DAYS * DAY_MS)),
    nameOf(subject),
    key.export({ type: 'spki', format: 'der' }),
    der(around(3), der(SEQUENCE, ...extensions)),
  );
  const signature = sign('sha256', toBeSigned, signer);
  return der(SEQUENCE, toBeSigned, ECDSA_WITH_SHA256, der(BIT_STRING, Buffer.from([0]), signature));
}

function nameOf(commonName: string): Buffer {
  return der(SEQUENCE, der(SET, der(SEQUENCE, oid(COMMON_NAME), der(UTF8_STRING, Buffer.from(commonName)))));
}

function extension(id: string, value: Buffer, isCritical: boolean): Buffer {
  const critical = isCritical ? [der(BOOLEAN, Buffer.from([0xff]))] : [];
  return der(SEQUENCE, oid(id), ...critical, der(OCTET_STRING, value));
}

/** `YYMMDDhhmmssZ` */
function utcTime(epochMs: number): Buffer {
  const digits = new Date(epochMs).toISOString().replaceAll(/[-:T]/g, '');
  return der(UTC_TIME, Buffer.from(`${digits.slice(2, 14)}Z`));
}

function oid(dotted: string): Buffer {
  const [first, second, ...rest] = dotted.split('.').map(Number);
  const bytes = [40 * first! + second!];
  for (const part of rest) {
    const groups = [part & 0x7f];
    for (let left = part >>> 7; left > 0; left >>>= 7) groups.unshift(0x80 | (left & 0x7f));
    bytes.push(...groups);
  }
  return der(OID, Buffer.from(bytes));
}

/** Tag, length, contents. */
function der(tag: number, ...contents: Buffer[]): Buffer {
  const body = Buffer.concat(contents);
  if (body.length < 0x80) return Buffer.concat([Buffer.from([tag, body.length]), body]);
  const length = [];
  for (let left = body.length; left > 0; left >>>= 8) length.unshift(left & 0xff);
  return Buffer.concat([Buffer.from([tag, 0x80 | length.length, ...length]), body]);
}

function pem(certificateDer: Buffer): string {
  const lines = certificateDer.toString('base64').match(/.{1,64}/g)!;
  return `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`;
}
