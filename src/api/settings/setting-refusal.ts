/**
 * What the functions behind settings refuse, told to a client. They are the command line's own functions, and their sentences may
 * name its commands: that part is left out here. Which 404 it is, the route knows.
 */
import { AgentFaultsError } from '../../workspaces/agents.ts';
import { OperatorError } from '../../workspaces/operator-error.ts';
import type { ErrorCode } from '../error-codes.ts';
import { Refusal } from '../refusal.ts';

/** ` see: parley line list acme` at a sentence's end. */
const COMMAND = /[;.,]?\s*(?:see|first|make it with|this sends what waits)?:?\s*parley\s.*$/;

export async function refusing<Result>(notFound: ErrorCode, work: Promise<Result>): Promise<Result> {
  try {
    return await work;
  } catch (error) {
    throw error instanceof OperatorError ? refusalOf(error, notFound) : error;
  }
}

function refusalOf(error: OperatorError, notFound: ErrorCode): Refusal {
  if (error instanceof AgentFaultsError) {
    const details = error.faults.map(({ path, problem }) => ({ field: path, issue: problem }));
    return new Refusal('invalid_agent', { details });
  }
  const details = [{ field: '', issue: error.message.replace(COMMAND, '').trim() }];
  switch (error.code) {
    case 'not_found':
      return new Refusal(notFound);
    case 'no_version':
      return new Refusal('agent_version_not_found');
    case 'changed':
      return new Refusal('precondition_failed', { details });
    case 'exists':
      return new Refusal('already_exists', { details });
    case 'invalid':
      return new Refusal('invalid_request', { details });
    case 'refused':
      return new Refusal('setting_refused', { details });
  }
}
