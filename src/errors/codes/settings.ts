/**
 * Codes of the settings of the application: agents, lines, keys, widget keys, limits, webhook
 * URL, and the operator's workspaces.
 */
import type { CodeFacts } from '../code-facts.ts';

export const SETTING_CODES = {
  precondition_failed: {
    status: 412,
    message: 'Changed meanwhile',
    meaning: '`If-Match` names another state than the present one: read it again, and decide anew what to change.',
  },
  already_exists: {
    status: 409,
    message: 'Already exists',
    meaning: 'There is one like it; `details` names it.',
  },
  setting_refused: {
    status: 409,
    message: 'The setting was refused',
    meaning:
      'It is above what the operator or the key that asks may give, or something else depends on what it changes; `details` says which.',
  },
  invalid_agent: {
    status: 400,
    message: 'The agent has faults',
    meaning: '`details` has all of them, each with the path of the value in the definition.',
  },
  agent_version_not_found: {
    status: 404,
    message: 'Agent version not found',
    meaning: 'The agent has no version of this number.',
  },
  key_not_found: { status: 404, message: 'Key not found', meaning: 'The workspace has no live key of this id.' },
  hold_not_found: {
    status: 404,
    message: 'Legal hold not found',
    meaning: 'The workspace has no hold of this id that is not released.',
  },
  line_not_found: {
    status: 404,
    message: 'Phone number not found',
    meaning: 'The workspace has no phone number record of this id.',
  },
  widget_key_not_found: {
    status: 404,
    message: 'Widget key not found',
    meaning: 'The workspace has no such public key, or it is revoked.',
  },
  tool_not_found: {
    status: 404,
    message: 'Tool not found',
    meaning: 'The current version of the agent has no tool of this name.',
  },
  secret_not_found: { status: 404, message: 'Secret not found', meaning: 'The workspace has no secret of this name.' },
  connection_not_found: {
    status: 404,
    message: 'Connection not found',
    meaning: 'The workspace has no connection of this name.',
  },
  model_not_set: {
    status: 404,
    message: 'No model endpoint',
    meaning: 'The workspace has none: a local heuristic reads its calls. Set one: PUT /api/developer/model-endpoint.',
  },
  workspace_not_found: { status: 404, message: 'Workspace not found', meaning: 'There is no workspace of this name.' },
  operator_only: {
    status: 403,
    message: 'Only the operator of the service may do this',
    meaning:
      "It takes an operator's key (`sv_oper_…`), made by `parley operator create`; a workspace's key will not do.",
  },
} as const satisfies Record<string, CodeFacts>;
