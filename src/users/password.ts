/**
 * Passwords as argon2id hashes (19 MiB, two passes, one lane, as OWASP advises), made in a thread that does one at a
 * time: a rush of sign-ins waits, then is refused, and calls never wait for it. Strangers wait for those who are known,
 * so that guesses from everywhere keep nobody out. An unknown person costs the same work as a known one.
 */
import { randomBytes } from 'node:crypto';
import { Worker } from 'node:worker_threads';
import { argon2id, argon2Verify } from 'hash-wasm';
import { OperatorError } from '../errors/operator-error.ts';

export const PASSWORD_CHARACTERS = { least: 12, most: 128 };

export interface Hashing {
  /** The encoded hash, with its parameters and a salt of its own. */
  hash(password: string): Promise<string>;
  /** `hash` null: nobody has this password, which takes as long to say. `isStranger`: may be anybody. */
  matches(hash: string | null, password: string, isStranger?: boolean): Promise<boolean>;
}

/** Too many passwords wait to be looked at. */
export class PasswordsBusy extends Error {}

export type HashOrder = { hash: string | null; password: string };
/** `memorySize`: KiB. A hash says its own, so that one made at another cost is still compared. */
export type HashCost = Readonly<Record<'parallelism' | 'iterations' | 'memorySize' | 'hashLength', number>>;
export type HashAnswer = { made: string } | { matches: boolean } | { fault: string };

const MOST_WAITING = 20;
const SALT_BYTES = 16;
const COST: HashCost = { parallelism: 1, iterations: 2, memorySize: 19_456, hashLength: 32 };

/** What the thread does with an order, and `hashingHere` by itself. `hash` null: make one. */
export async function carriedOut({ hash, password }: HashOrder, cost: HashCost = COST): Promise<HashAnswer> {
  const text = password.normalize('NFKC');
  if (hash !== null) return { matches: await argon2Verify({ password: text, hash }) };
  const salt = randomBytes(SALT_BYTES);
  return { made: await argon2id({ password: text, salt, ...cost, outputType: 'encoded' }) };
}

type CarryOut = (order: HashOrder, isStranger: boolean) => Promise<HashAnswer>;

function hashingBy(carryOut: CarryOut): Hashing {
  /** Of a password that nobody knows any more, at the same cost; made before the first comparison, whoever asks. */
  let nobodys: Promise<string> | null = null;
  async function hash(password: string): Promise<string> {
    const answer = await carryOut({ hash: null, password }, false);
    if ('made' in answer) return answer.made;
    throw new Error('a password could not be hashed');
  }
  return {
    hash,
    async matches(hashed, password, isStranger = false) {
      nobodys ??= hash(randomBytes(24).toString('base64'));
      const other = await nobodys.catch((error: unknown) => {
        nobodys = null;
        throw error;
      });
      const answer = await carryOut({ hash: hashed ?? other, password }, isStranger);
      if ('matches' in answer) return hashed !== null && answer.matches;
      throw new Error('a password could not be compared');
    },
  };
}

/** In the thread that asks, for tests. `cost`: less only where the password is nobody's. */
export const hashingHere = (cost?: HashCost): Hashing => hashingBy((order) => carriedOut(order, cost));

/** `entry`: the built `hash-thread.ts`. The thread is started by the first password, and holds no process up. */
export function createHashing(entry: () => string): Hashing & { close(): Promise<void> } {
  let worker: Worker | null = null;
  /** The first is at work. Who is known stands before strangers. */
  const waiting: {
    order: HashOrder;
    isStranger: boolean;
    resolve(answer: HashAnswer): void;
    reject(error: Error): void;
  }[] = [];

  function next(): void {
    const [first] = waiting;
    if (first === undefined) return;
    worker ??= start();
    worker.postMessage(first.order);
  }
  function start(): Worker {
    const made = new Worker(entry());
    made.unref();
    made.on('message', (answer: HashAnswer) => {
      const asked = waiting.shift();
      if ('fault' in answer) asked?.reject(new Error(answer.fault));
      else asked?.resolve(answer);
      next();
    });
    made.on('error', (error) => {
      if (worker === made) worker = null;
      for (const { reject } of waiting.splice(0)) reject(error);
    });
    return made;
  }
  const carryOut: CarryOut = (order, isStranger) => {
    const alike = waiting.filter((one, at) => at > 0 && one.isStranger === isStranger).length;
    if (alike >= MOST_WAITING) return Promise.reject(new PasswordsBusy('too many passwords wait'));
    return new Promise((resolve, reject) => {
      const firstStranger = waiting.findIndex((one, at) => at > 0 && one.isStranger);
      const at = isStranger || firstStranger === -1 ? waiting.length : firstStranger;
      waiting.splice(at, 0, { order, isStranger, resolve, reject });
      if (waiting.length === 1) next();
    });
  };
  return {
    ...hashingBy(carryOut),
    async close() {
      await worker?.terminate();
      worker = null;
      for (const { reject } of waiting.splice(0)) reject(new PasswordsBusy('the service is being stopped'));
    },
  };
}

/** Length alone: what else is asked of a password makes people write it down. */
export function checkPassword(password: string): void {
  const { least, most } = PASSWORD_CHARACTERS;
  const characters = [...password].length;
  if (characters >= least && characters <= most) return;
  throw new OperatorError('invalid', `A password has ${least} to ${most} characters; a few words are a good one.`);
}
