/** Passwords of people in tests: hashed as the service does, at the least cost that argon2id knows. */
import { hashingHere } from '../../src/users/password.ts';

export const CHEAP_HASHING = hashingHere({ parallelism: 1, iterations: 1, memorySize: 8, hashLength: 32 });
