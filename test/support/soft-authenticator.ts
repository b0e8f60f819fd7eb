/**
 * An authenticator with a browser before it, as far as a service sees them (WebAuthn Level 3 §6, §7): it makes a P-256
 * key for a host, and signs what it is asked. A test may let it lie about whatever it likes.
 */
import { createHash, createSign, generateKeyPairSync, type KeyObject, randomBytes } from 'node:crypto';

export interface Lies {
  /** Of the page in which it is asked. */
  origin?: string;
  /** For which it signs. */
  host?: string;
  challenge?: string;
  /** `webauthn.get`, `webauthn.create`. */
  type?: string;
  signCount?: number;
  /** Nobody has shown a finger, a face or a PIN. */
  isUnverified?: boolean;
  userHandle?: string;
  /** What signs in place of its own key. */
  key?: KeyObject;
  /** What signs is called so. */
  id?: string;
}

const FLAG = { present: 0x01, verified: 0x04, mayBeSynced: 0x08, isSynced: 0x10, hasKey: 0x40 };
const sha256 = (text: string): Buffer => createHash('sha256').update(text).digest();

/** Of CBOR (RFC 8949) what the structures here take. */
function cbor(value: unknown): Buffer {
  if (typeof value === 'number') return value < 0 ? head(1, -1 - value) : head(0, value);
  if (Buffer.isBuffer(value)) return Buffer.concat([head(2, value.length), value]);
  if (typeof value === 'string') return Buffer.concat([head(3, Buffer.byteLength(value)), Buffer.from(value)]);
  const pairs = [...(value as Map<unknown, unknown>)].flatMap(([key, inner]) => [cbor(key), cbor(inner)]);
  return Buffer.concat([head(5, pairs.length / 2), ...pairs]);
}

function head(major: number, length: number): Buffer {
  if (length < 24) return Buffer.from([(major << 5) | length]);
  if (length < 256) return Buffer.from([(major << 5) | 24, length]);
  return Buffer.from([(major << 5) | 25, length >> 8, length & 0xff]);
}

export class SoftAuthenticator {
  readonly id = randomBytes(32);
  readonly #pair = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  #userHandle: string | undefined;
  signCount = 0;

  /** Of the page in which it is asked, and its host. */
  readonly origin = 'http://localhost';
  readonly host = 'localhost';

  /** To what `navigator.credentials.create` is asked. */
  make(options: { challenge: string; user?: unknown }, lies: Lies = {}) {
    this.#userHandle = (options.user as { id: string }).id;
    const jwk = this.#pair.publicKey.export({ format: 'jwk' });
    const key = new Map<number, unknown>([
      [1, 2],
      [3, -7],
      [-1, 1],
      [-2, Buffer.from(jwk.x!, 'base64url')],
      [-3, Buffer.from(jwk.y!, 'base64url')],
    ]);
    const idLength = Buffer.from([this.id.length >> 8, this.id.length & 0xff]);
    const made = Buffer.concat([Buffer.alloc(16), idLength, this.id, cbor(key)]);
    const authData = Buffer.concat([this.#authData(FLAG.hasKey, lies), made]);
    const attested = new Map<string, unknown>([
      ['fmt', 'none'],
      ['attStmt', new Map()],
      ['authData', authData],
    ]);
    return this.#told({
      clientDataJSON: clientData(options.challenge, { type: 'webauthn.create', origin: this.origin, ...lies }),
      attestationObject: cbor(attested).toString('base64url'),
      transports: ['internal', 'a way of tomorrow'],
    });
  }

  /** To what `navigator.credentials.get` is asked. Counts one further. */
  answer(options: { challenge: string }, lies: Lies = {}) {
    this.signCount = lies.signCount ?? this.signCount + 1;
    const authData = this.#authData(0, lies);
    const clientDataJSON = clientData(options.challenge, { type: 'webauthn.get', origin: this.origin, ...lies });
    const signed = Buffer.concat([authData, createHash('sha256').update(clientDataJSON, 'base64url').digest()]);
    const signature = createSign('sha256')
      .update(signed)
      .sign(lies.key ?? this.#pair.privateKey);
    return this.#told(
      {
        clientDataJSON,
        authenticatorData: authData.toString('base64url'),
        signature: signature.toString('base64url'),
        userHandle: lies.userHandle ?? this.#userHandle,
      },
      lies.id,
    );
  }

  #authData(more: number, { host = this.host, isUnverified = false, signCount = this.signCount }: Lies): Buffer {
    const flags = FLAG.present | FLAG.mayBeSynced | FLAG.isSynced | (isUnverified ? 0 : FLAG.verified) | more;
    const counted = Buffer.alloc(4);
    counted.writeUInt32BE(signCount);
    return Buffer.concat([sha256(host), Buffer.from([flags]), counted]);
  }

  #told<Response>(response: Response, id = this.id.toString('base64url')) {
    return { id, rawId: id, type: 'public-key', clientExtensionResults: {}, response };
  }
}

function clientData(challenge: string, said: Lies & { type: string; origin: string }): string {
  const { type, origin } = said;
  const text = JSON.stringify({ type, challenge: said.challenge ?? challenge, origin, crossOrigin: false });
  return Buffer.from(text).toString('base64url');
}
