/**
 * A passkey asked and answered, at the sign-in and for a new one: the challenge is open once and for one use, the
 * answer is of a passkey that is stored for this host, and it counts on.
 */
import { v7 as uuidv7 } from 'uuid';
import { OperatorError } from '../errors/operator-error.ts';
import type { Database, Queryable } from '../store/database.ts';
import {
  challengeIn,
  type NewPasskeyAnswer,
  type NewPasskeyOptions,
  newPasskeyOptions,
  type PasskeyAnswer,
  type PasskeyOptions,
  passkeyOptions,
  type RelyingParty,
  readNewPasskey,
  readPasskeyAnswer,
} from './passkey-answers.ts';
import { type ChallengeUse, newChallenge, takeChallenge } from './passkey-challenges.ts';
import { findPasskey, notePasskeyUse, type PasskeyView, passkeysAt, storePasskey } from './passkeys.ts';
import type { Person } from './people.ts';

type SignInUse = Extract<ChallengeUse, { purpose: 'sign_in' | 'second_factor' }>;

export async function askForPasskey(
  database: Queryable,
  { by, party }: { by: ChallengeUse; party: RelyingParty },
): Promise<PasskeyOptions> {
  const { userId } = by;
  const known = userId === null ? null : await passkeysAt(database, { userId, host: party.host });
  return passkeyOptions(party, { challenge: await newChallenge(database, by), known });
}

/**
 * `userId`: whose passkey has answered; null: nobody's that is known at this host. The challenge is used up either way.
 */
export async function takePasskey(
  database: Queryable,
  { by, answer, party }: { by: SignInUse; answer: PasskeyAnswer; party: RelyingParty },
): Promise<{ isRight: boolean; userId: string | null }> {
  const challenge = await openChallenge(database, answer.response.clientDataJSON, by);
  const passkey = await findPasskey(database, { credentialId: answer.id, host: party.host });
  if (passkey === null) return { isRight: false, userId: null };
  const { id: passkeyId, userId } = passkey;
  const wrong = { isRight: false, userId };
  if (challenge === null || (by.userId !== null && by.userId !== userId)) return wrong;
  const wantsPerson = by.purpose === 'sign_in';
  const read = await readPasskeyAnswer(answer, { passkey, challenge, party, wantsPerson });
  if (read === null) return wrong;
  return { isRight: await notePasskeyUse(database, { passkeyId, signCount: read.signCount }), userId };
}

export async function askForNewPasskey(
  database: Queryable,
  person: Person,
  party: RelyingParty,
): Promise<NewPasskeyOptions> {
  const known = await passkeysAt(database, { userId: person.id, host: party.host });
  const challenge = await newChallenge(database, { purpose: 'new_passkey', userId: person.id });
  return newPasskeyOptions(person, party, { challenge, known });
}

/** Throws `invalid` for an answer that is none, `refused` and `exists`. */
export async function addPasskey(
  database: Database,
  asked: { userId: string; party: RelyingParty; name: string; answer: NewPasskeyAnswer },
  noted: (tx: Queryable, added: PasskeyView) => Promise<unknown>,
): Promise<PasskeyView> {
  const { userId, party, name, answer } = asked;
  const by = { purpose: 'new_passkey', userId } as const;
  const challenge = await openChallenge(database, answer.response.clientDataJSON, by);
  const made = challenge === null ? null : await readNewPasskey(answer, { challenge, party });
  if (made === null) {
    throw new OperatorError('invalid', `The answer is none to what was asked at ${party.origin}, or came too late.`);
  }
  return database.transaction(async (tx) => {
    const added = await storePasskey(tx, { ...made, id: uuidv7(), userId, host: party.host, name });
    await noted(tx, added);
    return added;
  });
}

/** The challenge that the browser says it answers, if it is open for this; it is not any more. */
async function openChallenge(database: Queryable, clientDataJson: string, use: ChallengeUse): Promise<string | null> {
  const said = challengeIn(clientDataJson);
  if (said === null || !(await takeChallenge(database, said, use))) return null;
  return said;
}
