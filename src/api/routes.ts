/**
 * All routes of the API, resource by resource, in the order in which `/openapi.json` shows them. Called by `server.ts`;
 * and by what makes the client, which never asks one of them and gives no more than their descriptions need.
 */
import type { FastifyInstance } from 'fastify';
import type { Clock } from '../../media/contract/clock.ts';
import type { IssueAnswer, SessionRequest } from '../embed/issue-session.ts';
import type { DeleteDeps } from '../retention/call-log-delete.ts';
import { registerAgents } from './agents/agent-routes.ts';
import { registerAgentUses } from './agents/agent-uses-route.ts';
import { type AuditRouteDeps, registerAudit } from './audit/audit-route.ts';
import { registerCallingSettings } from './calling-settings/calling-setting-routes.ts';
import { type CallRouteDeps, registerCalls } from './calls/call-routes.ts';
import { type CallControlDeps, registerCallControl } from './calls/control-route.ts';
import { registerCallDelete } from './calls/delete-route.ts';
import { type EventRouteDeps, registerCallEvents } from './calls/event-routes.ts';
import { type CallListDeps, registerCallList } from './calls/list-route.ts';
import { registerCallOrigin } from './calls/origin-route.ts';
import { registerTranscript } from './calls/transcript-route.ts';
import { type ClipRouteDeps, registerClips } from './clips/clip-routes.ts';
import { type ConnectionRouteDeps, registerConnections } from './connections/connection-routes.ts';
import { registerConsoleFiles } from './console/console-files.ts';
import { type ConsoleDeps, registerConsole } from './console/console-routes.ts';
import { sessionsStillHold } from './console/session-guard.ts';
import { registerDialPolicy } from './dial-policy/dial-policy-routes.ts';
import { registerEmbedSession } from './embed/session-route.ts';
import { registerErrorCodes } from './error-codes-route.ts';
import { type ExportRouteDeps, registerExports } from './exports/export-routes.ts';
import type { Guard } from './guard.ts';
import { type HealthDeps, registerHealth } from './health-routes.ts';
import { registerKeys } from './keys/key-routes.ts';
import { registerLeadCall } from './leads/call-route.ts';
import { registerCreateLead } from './leads/create-lead-route.ts';
import { type ImportRouteDeps, registerLeadImports } from './leads/import-routes.ts';
import { type LeadRouteDeps, registerLeads } from './leads/lead-routes.ts';
import { registerLimits } from './limits/limits-route.ts';
import { type ModelEndpointDeps, registerModelEndpoint } from './model-endpoint/model-endpoint-routes.ts';
import { registerDocs } from './openapi/docs-routes.ts';
import { registerOpenApi } from './openapi/openapi-routes.ts';
import { registerService, type ServiceRouteDeps } from './operator/service-routes.ts';
import { registerWorkspaces } from './operator/workspace-routes.ts';
import { registerOutboundCall } from './outbound-call/outbound-call-route.ts';
import type { PlacingDeps } from './outbound-call/place-and-answer.ts';
import { type PhoneNumberDeps, registerPhoneNumbers } from './phone-numbers/phone-number-routes.ts';
import { registerPrices } from './prices/price-routes.ts';
import { type RecordingRouteDeps, registerRecordings } from './recordings/recording-routes.ts';
import { type HoldRouteDeps, registerHolds } from './retention/hold-routes.ts';
import { registerRetention } from './retention/retention-routes.ts';
import { registerSuppressions } from './suppressions/suppression-routes.ts';
import { registerToolSecrets } from './tool-secrets/secret-routes.ts';
import { registerTools, type ToolRouteDeps } from './tools/tool-routes.ts';
import { UploadRoom } from './upload-room.ts';
import { registerWebhookSettings, type WebhookSettingDeps } from './webhook-settings/webhook-setting-routes.ts';
import { registerWebhooks, type WebhookRouteDeps } from './webhooks/webhook-routes.ts';
import { registerWidget } from './widget/widget-routes.ts';
import { registerShownLook, registerWidgetLooks } from './widget-keys/look-routes.ts';
import { registerWidgetKeys } from './widget-keys/widget-key-routes.ts';

/** What the routes need, each of them a part. */
export interface RouteDeps
  extends PlacingDeps,
    AuditRouteDeps,
    CallRouteDeps,
    CallControlDeps,
    CallListDeps,
    ConnectionRouteDeps,
    DeleteDeps,
    EventRouteDeps,
    ExportRouteDeps,
    HealthDeps,
    HoldRouteDeps,
    LeadRouteDeps,
    ModelEndpointDeps,
    PhoneNumberDeps,
    RecordingRouteDeps,
    ServiceRouteDeps,
    ToolRouteDeps,
    WebhookRouteDeps,
    WebhookSettingDeps,
    ConsoleDeps,
    Omit<ImportRouteDeps, 'uploadRoom'>,
    Omit<ClipRouteDeps, 'uploadRoom'> {
  clock: Clock;
  issueSession(request: SessionRequest): Promise<IssueAnswer>;
}

export function registerRoutes(app: FastifyInstance, guards: { keys: Guard; people: Guard }, deps: RouteDeps): void {
  const uploadRoom = new UploadRoom();
  registerOperations(app, guards.keys, { ...deps, uploadRoom });
  registerErrorCodes(app);
  registerWidget(app, deps);
  registerShownLook(app, deps);
  registerEmbedSession(app, deps);
  registerHealth(app, deps);
  registerOpenApi(app, deps);
  registerDocs(app);
  registerConsoleFiles(app, deps);
  const stillHold: RouteDeps['stillHold'] = (uses) => sessionsStillHold(deps.database, uses);
  registerConsole(app, guards.people, deps, (scope, guard) =>
    registerOperations(scope, guard, { ...deps, uploadRoom, stillHold }),
  );
}

/** Those that take a key, or a person who may the same. */
function registerOperations(app: FastifyInstance, guard: Guard, deps: RouteDeps & { uploadRoom: UploadRoom }): void {
  registerOutboundCall(app, guard, deps);
  registerCallList(app, guard, deps);
  registerExports(app, guard, deps);
  registerCalls(app, guard, deps);
  registerCallEvents(app, guard, deps);
  registerTranscript(app, guard, deps);
  registerCallOrigin(app, guard, deps);
  registerCallDelete(app, guard, deps);
  registerCallControl(app, guard, deps);
  registerRecordings(app, guard, deps);
  registerCreateLead(app, guard, deps);
  registerLeads(app, guard, deps);
  registerLeadImports(app, guard, deps);
  registerLeadCall(app, guard, deps);
  registerSuppressions(app, guard, deps);
  registerWebhooks(app, guard, deps);
  registerWebhookSettings(app, guard, deps);
  registerLimits(app, guard, deps);
  registerDialPolicy(app, guard, deps);
  registerAudit(app, guard, deps);
  registerAgents(app, guard, deps);
  registerAgentUses(app, guard, deps);
  registerTools(app, guard, deps);
  registerClips(app, guard, deps);
  registerPhoneNumbers(app, guard, deps);
  registerKeys(app, guard, deps);
  registerCallingSettings(app, guard, deps);
  registerToolSecrets(app, guard, deps);
  registerConnections(app, guard, deps);
  registerModelEndpoint(app, guard, deps);
  registerRetention(app, guard, deps);
  registerHolds(app, guard, deps);
  registerWidgetKeys(app, guard, deps);
  registerWidgetLooks(app, guard, deps);
  registerWorkspaces(app, guard, deps);
  registerPrices(app, guard, deps);
  registerService(app, guard, deps);
}
