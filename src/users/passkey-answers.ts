/**
 * What browsers and authenticators are asked and say (WebAuthn Level 3), by way of a library that is read when the
 * first is needed. No attestation is asked for: which maker's key it is does not matter here.
 */
import type {
  AuthenticationResponseJSON,
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
  RegistrationResponseJSON,
} from '@simplewebauthn/server';
import type { StoredPasskey } from './passkeys.ts';
import type { Person } from './people.ts';

export type NewPasskeyAnswer = RegistrationResponseJSON;
export type PasskeyAnswer = AuthenticationResponseJSON;
export type NewPasskeyOptions = PublicKeyCredentialCreationOptionsJSON;
export type PasskeyOptions = PublicKeyCredentialRequestOptionsJSON;

/** Who asks: this service at one address. */
export interface RelyingParty {
  /** To which passkeys belong: `voice.example.com`, `localhost`. */
  host: string;
  /** `https://voice.example.com`, `http://localhost:8080`. */
  origin: string;
}

/** How long a browser shows its dialog. */
const TIMEOUT_MS = 120_000;
const ATTESTED_AS = 'none';

const library = () => import('@simplewebauthn/server');

/** `known`: those that the person has there already, so that none is made twice. */
export async function newPasskeyOptions(
  person: Person,
  party: RelyingParty,
  { challenge, known }: { challenge: string; known: readonly StoredPasskey[] },
): Promise<NewPasskeyOptions> {
  const { generateRegistrationOptions } = await library();
  return generateRegistrationOptions({
    rpName: 'Parley',
    rpID: party.host,
    // Not the e-mail address: an authenticator may tell it to whoever has the device.
    userID: new Uint8Array(handleOf(person.id)),
    userName: person.email,
    userDisplayName: person.name,
    challenge: new Uint8Array(Buffer.from(challenge, 'base64url')),
    attestationType: ATTESTED_AS,
    timeout: TIMEOUT_MS,
    excludeCredentials: credentialsOf(known),
    // What cannot be kept on the authenticator, or asks for no finger, is a second factor still.
    authenticatorSelection: { residentKey: 'preferred', userVerification: 'preferred' },
  });
}

/** `known`: the one who has shown a password; null: the authenticator says whose passkey it is. */
export async function passkeyOptions(
  party: RelyingParty,
  { challenge, known }: { challenge: string; known: readonly StoredPasskey[] | null },
): Promise<PasskeyOptions> {
  const { generateAuthenticationOptions } = await library();
  return generateAuthenticationOptions({
    rpID: party.host,
    challenge: new Uint8Array(Buffer.from(challenge, 'base64url')),
    timeout: TIMEOUT_MS,
    userVerification: known === null ? 'required' : 'preferred',
    ...(known === null ? {} : { allowCredentials: credentialsOf(known) }),
  });
}

/** Null: it is none that was made for this challenge, at this address. */
export async function readNewPasskey(
  answer: NewPasskeyAnswer,
  { challenge, party }: { challenge: string; party: RelyingParty },
): Promise<(Omit<StoredPasskey, 'id' | 'userId'> & { isSynced: boolean }) | null> {
  const { verifyRegistrationResponse } = await library();
  const made = await unlessWrong(() =>
    verifyRegistrationResponse({
      response: answer,
      expectedChallenge: challenge,
      expectedOrigin: party.origin,
      expectedRPID: party.host,
      requireUserVerification: false,
    }),
  );
  if (made?.verified !== true) return null;
  const { credential, credentialBackedUp } = made.registrationInfo;
  return {
    credentialId: credential.id,
    publicKey: Buffer.from(credential.publicKey).toString('base64url'),
    signCount: credential.counter,
    transports: credential.transports ?? [],
    isSynced: credentialBackedUp,
  };
}

/** What it has counted. Null: not signed by this passkey, for this challenge, at this address; or by a copy of it. */
export async function readPasskeyAnswer(
  answer: PasskeyAnswer,
  asked: { passkey: StoredPasskey; challenge: string; party: RelyingParty; wantsPerson: boolean },
): Promise<{ signCount: number } | null> {
  const { verifyAuthenticationResponse } = await library();
  const { passkey, challenge, party } = asked;
  const { userHandle } = answer.response;
  if (userHandle !== undefined && userHandle !== handleOf(passkey.userId).toString('base64url')) return null;
  const read = await unlessWrong(() =>
    verifyAuthenticationResponse({
      response: answer,
      expectedChallenge: challenge,
      expectedOrigin: party.origin,
      expectedRPID: party.host,
      requireUserVerification: asked.wantsPerson,
      credential: {
        id: passkey.credentialId,
        publicKey: new Uint8Array(Buffer.from(passkey.publicKey, 'base64url')),
        counter: passkey.signCount,
      },
    }),
  );
  return read?.verified === true ? { signCount: read.authenticationInfo.newCounter } : null;
}

/** What the browser says that it was asked. Null: it says nothing that can be read. */
export function challengeIn(clientDataJson: string): string | null {
  try {
    const said = JSON.parse(Buffer.from(clientDataJson, 'base64url').toString('utf8')) as { challenge?: unknown };
    return typeof said.challenge === 'string' ? said.challenge : null;
  } catch {
    return null;
  }
}

/** As what an authenticator knows the person. */
const handleOf = (userId: string): Buffer => Buffer.from(userId.replaceAll('-', ''), 'hex');

/** The library throws for whatever is wrong with an answer. */
async function unlessWrong<Result>(read: () => Promise<Result>): Promise<Result | null> {
  try {
    return await read();
  } catch {
    return null;
  }
}

const credentialsOf = (known: readonly StoredPasskey[]) =>
  known.map(({ credentialId, transports }) => ({ id: credentialId, transports: transports as 'usb'[] }));
