/** The operator's routes, described for the published document. */
import type { ErrorCode } from '../error-codes.ts';
import { newKeyAnswer } from '../keys/answers.ts';
import { newKeyBody } from '../keys/key-routes.ts';
import { BODY, COMMON, json, none, type Operation, RATE_HEADERS } from '../openapi/operation.ts';
import { storedWorkspaceAnswer, workspaceAnswer, workspacesAnswer } from './answers.ts';
import { newWorkspaceBody, WORKSPACES_PATH, workspaceChangeBody, workspaceParams } from './workspace-routes.ts';

const operator = { ...none, tag: 'Operator', scope: 'operator' } as const;
const KEYED: readonly ErrorCode[] = [
  'invalid_request',
  'unauthorized',
  'operator_only',
  'auth_rate_limit',
  'api_rate_limit',
  ...COMMON,
];
const one = `${WORKSPACES_PATH}/:slug`;

export const operatorOperations: readonly Operation[] = [
  {
    ...operator,
    method: 'get',
    route: WORKSPACES_PATH,
    id: 'listWorkspaces',
    summary: 'All workspaces of the service',
    description: 'With their switch for API access, limits and caps.',
    answers: { 200: json('All of them.', workspacesAnswer, RATE_HEADERS) },
    errors: KEYED,
  },
  {
    ...operator,
    method: 'post',
    route: WORKSPACES_PATH,
    id: 'createWorkspace',
    summary: 'Create a workspace',
    description: 'Its API access is off at first.',
    body: newWorkspaceBody,
    answers: { 201: json('The workspace.', storedWorkspaceAnswer, RATE_HEADERS) },
    errors: ['already_exists', 'invalid_request', ...KEYED, ...BODY],
  },
  {
    ...operator,
    method: 'get',
    route: one,
    id: 'readWorkspace',
    summary: 'A workspace',
    description: 'By its short name.',
    params: workspaceParams,
    answers: { 200: json('The workspace.', workspaceAnswer, RATE_HEADERS) },
    errors: ['workspace_not_found', 'invalid_request', ...KEYED],
  },
  {
    ...operator,
    method: 'patch',
    route: one,
    id: 'changeWorkspace',
    summary: 'Rename it, switch its API access on or off, set its limits with their caps',
    description:
      'Off: every key of the workspace is refused within 2 s. A limit is at once the cap of what the workspace may set.',
    params: workspaceParams,
    body: workspaceChangeBody,
    answers: { 200: json('The workspace.', storedWorkspaceAnswer, RATE_HEADERS) },
    errors: ['workspace_not_found', 'invalid_request', ...KEYED, ...BODY],
  },
  {
    ...operator,
    method: 'post',
    route: `${one}/keys`,
    id: 'createWorkspaceKey',
    summary: "Make a workspace's key, such as its first",
    description: 'API access must be on. With `settings:write` it makes the others by itself.',
    params: workspaceParams,
    body: newKeyBody,
    answers: { 201: json('The key, this once.', newKeyAnswer, RATE_HEADERS) },
    errors: ['workspace_not_found', 'setting_refused', 'invalid_request', ...KEYED, ...BODY],
  },
];
