/** How a use of a tool went, by its outcome or its error. */
const outcomes: Readonly<Record<string, string>> = {
  ok: 'Answered',
  cancelled: 'The call ended first',
  unknown_tool: 'No such tool',
  bad_arguments: 'Arguments do not fit',
  missing_secret: 'A secret is missing',
  refused: 'Address not allowed',
  failed: 'No connection',
  timeout: 'Took too long',
  redirected: 'Led elsewhere',
  http_error: 'Answered an error',
  too_large: 'Answer too large',
  bad_answer: 'Answer not understood',
  circuit_open: 'Left alone: it failed often',
  busy: 'Too many at once',
  outcome_unknown: 'Unknown whether it was done',
  unsupported: 'There is no page',
  client_error: 'The page failed',
};

/** An outcome of a later version than this page is said as it is. */
export const toolOutcome = (outcome: string): string => outcomes[outcome] ?? outcome;
