/** What the routes of widget keys and web settings answer, as zod schemas for the published document. */
import { z } from 'zod';
import { time, wholeList } from '../openapi/shared-answers.ts';

export const widgetKeyAnswer = z
  .strictObject({
    publicKey: z.string().describe('No secret: it stands in web pages'),
    name: z.string(),
    allowedOrigins: z.array(z.string()).describe('Empty: no page may use it'),
    enabled: z.boolean(),
    revokedAt: time.nullable(),
    createdAt: time,
  })
  .meta({ id: 'WidgetKey' });

export const widgetKeysAnswer = wholeList(widgetKeyAnswer).meta({ id: 'WidgetKeys' });
export const storedWidgetKeyAnswer = z
  .strictObject({ success: z.literal(true), widgetKey: widgetKeyAnswer })
  .meta({ id: 'StoredWidgetKey' });

export const webSettingsAnswer = z
  .strictObject({
    sessionSeconds: z.int().describe('The longest web session'),
    webhooks: z.boolean().describe('Whether web sessions send call events'),
  })
  .meta({ id: 'WebSettings' });
