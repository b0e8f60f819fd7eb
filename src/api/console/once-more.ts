/**
 * That it is the person and not somebody at a session that was left open: the password once more, or, of who has none,
 * a sign-in that is not long ago. Else such a session would be enough to keep its owner out. Guesses are bounded as at
 * the sign-in.
 */
import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { passwordOnceMore } from '../../users/sign-in.ts';
import { Refusal } from '../refusal.ts';
import { personAt } from './session-guard.ts';
import { type SessionRouteDeps, unlessBusy } from './session-routes.ts';

const FRESH_MS = 10 * 60_000;

const password = z.string().min(1).max(1024).optional();
export const onceMoreBody = z
  .strictObject({ password: password.meta({ description: 'Left out by who has none, and has just signed in' }) })
  .meta({ id: 'PasswordOnceMore' });

export const ONCE_MORE_CODES = ['wrong_password', 'sign_in_again', 'sign_in_limit', 'sign_in_busy'] as const;

export async function onceMore(
  deps: SessionRouteDeps,
  request: FastifyRequest,
  given: string | undefined,
): Promise<void> {
  const { id: userId, hasPassword } = personAt(request);
  if (!hasPassword) {
    const { signedInAt } = request.signedIn!;
    if (deps.clock.epochMs() - signedInAt.getTime() > FRESH_MS) throw new Refusal('sign_in_again');
    return;
  }
  if (given === undefined) throw new Refusal('wrong_password');
  const asked = { userId, password: given, address: request.ip ?? 'local' };
  const answer = await unlessBusy(passwordOnceMore(deps, asked));
  if (answer.kind === 'too_many') throw new Refusal('sign_in_limit', answer);
  if (answer.kind === 'wrong') throw new Refusal('wrong_password');
}
