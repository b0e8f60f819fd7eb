/**
 * What is published of an `X-Error-Code`. A resource with codes of its own lists them in `codes/`, for
 * `error-codes.ts`.
 */
export interface CodeFacts {
  status: number;
  message: string;
  /** For people: when it comes and what to do. */
  meaning: string;
}
