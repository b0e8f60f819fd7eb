/** What a persona's phone can do instead of answering. Each carrier's emulator has words of its own for it. */
export const UNANSWERED_OUTCOMES = [
  'busy',
  'no_answer',
  'declined',
  'rejected',
  'spam_block',
  'unreachable',
  'invalid_number',
  'congestion',
  'concurrency',
  'carrier_fault',
] as const;

export type UnansweredOutcome = (typeof UNANSWERED_OUTCOMES)[number];
