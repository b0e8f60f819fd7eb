/**
 * Every operation that clients and operators call, described: `document.ts` makes OpenAPI of it, `docs-page.ts` a page. Tests hold it
 * to the routes that exist, to the codes that they really answer and to the bodies that they really send. Carrier callbacks are not
 * in it: they are the carrier's protocol, not ours.
 */
import { agentOperations } from '../agents/operations.ts';
import { auditOperations } from '../audit/operations.ts';
import { callingSettingOperations } from '../calling-settings/operations.ts';
import { callOperations } from '../calls/operations.ts';
import { clipOperations } from '../clips/operations.ts';
import { dialPolicyOperations } from '../dial-policy/operations.ts';
import { embedOperations } from '../embed/operations.ts';
import { errorCodeOperations } from '../error-codes-route.ts';
import { keyOperations } from '../keys/operations.ts';
import { leadOperations } from '../leads/operations.ts';
import { limitOperations } from '../limits/operations.ts';
import { modelEndpointOperations } from '../model-endpoint/operations.ts';
import { operatorOperations } from '../operator/operations.ts';
import { outboundCallOperations } from '../outbound-call/operations.ts';
import { phoneNumberOperations } from '../phone-numbers/operations.ts';
import { recordingOperations } from '../recordings/operations.ts';
import { holdOperations, retentionOperations } from '../retention/operations.ts';
import { serviceOperations } from '../service-operations.ts';
import { suppressionOperations } from '../suppressions/operations.ts';
import { toolSecretOperations } from '../tool-secrets/operations.ts';
import { toolOperations } from '../tools/operations.ts';
import { webhookSettingOperations } from '../webhook-settings/operations.ts';
import { webhookOperations } from '../webhooks/operations.ts';
import { widgetOperations } from '../widget/operations.ts';
import { widgetKeyOperations } from '../widget-keys/operations.ts';
import type { Operation } from './operation.ts';

export const OPERATIONS: readonly Operation[] = [
  ...outboundCallOperations,
  ...callOperations,
  ...recordingOperations,
  ...leadOperations,
  ...suppressionOperations,
  ...webhookOperations,
  ...webhookSettingOperations,
  ...limitOperations,
  ...dialPolicyOperations,
  ...auditOperations,
  ...agentOperations,
  ...clipOperations,
  ...phoneNumberOperations,
  ...keyOperations,
  ...callingSettingOperations,
  ...toolSecretOperations,
  ...modelEndpointOperations,
  ...retentionOperations,
  ...holdOperations,
  ...widgetKeyOperations,
  ...operatorOperations,
  ...errorCodeOperations,
  ...toolOperations,
  ...widgetOperations,
  ...embedOperations,
  ...serviceOperations,
];
