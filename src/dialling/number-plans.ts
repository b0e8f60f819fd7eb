/**
 * The numbering plans of the world, from libphonenumber with its full metadata: a quarter of a megabyte in a hundred
 * files, so read with the first number and not at the start of every process. For `number-kinds.ts` and
 * `suppressions/number-country.ts`.
 */
import { createRequire } from 'node:module';

type Plans = typeof import('libphonenumber-js/max');

let plans: Plans | null = null;

export function numberPlans(): Plans {
  plans ??= createRequire(import.meta.url)('libphonenumber-js/max') as Plans;
  return plans;
}
