/**
 * Signatures of thoughts: what came with a use of a tool goes back with it, or the request is refused. The real ones
 * are sealed; these say only that they are ours. Pure.
 */
import { randomBytes } from 'node:crypto';
import { RequestRefused } from './api-error.ts';

/** The documents' own word for a use whose signature is not there. */
const SKIP = 'skip_thought_signature_validator';
const OURS = 'emulated thoughts ';

export function newSignature(): string {
  return Buffer.from(`${OURS}${randomBytes(24).toString('hex')}`).toString('base64');
}

/**
 * Throws `RequestRefused` for the first use of an answer of the turn that is under way without one, or with another's.
 * `position`: of the content, from 1.
 */
export function checkSignature(signature: unknown, name: string, position: number): void {
  if (signature === undefined)
    throw new RequestRefused(
      `Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly, and missing thought_signature may lead to degraded model performance. Additional data, function call \`default_api:${name}\` , position ${position}. Please refer to https://ai.google.dev/gemini-api/docs/thought-signatures for more details.`,
    );
  if (signature === SKIP) return;
  if (!Buffer.from(String(signature), 'base64').toString('utf8').startsWith(OURS))
    throw new RequestRefused('Corrupted thought signature.');
}
