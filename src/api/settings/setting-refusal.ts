/**
 * What the functions behind settings refuse, told to a client. They are the command line's own functions; its commands,
 * with which they tell an operator what to do next, are left out here. Which 404 it is, the route knows.
 */
import { AgentFaultsError } from '../../agents/stored-agents.ts';
import type { ErrorCode } from '../../errors/error-codes.ts';
import { OperatorError } from '../../errors/operator-error.ts';
import { Refusal } from '../refusal.ts';

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
  const details = [{ field: '', issue: error.reason }];
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
