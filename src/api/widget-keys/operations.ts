/** The routes of widget keys and web settings, described for the published document. */
import { json, KEYED, ONCE, type Operation, RATE_HEADERS, REPLAYED } from '../openapi/operation.ts';
import { CHANGING, CREATING, IF_MATCH, settings, TAGGED } from '../settings/described.ts';
import { storedWidgetKeyAnswer, webSettingsAnswer, widgetKeyAnswer, widgetKeysAnswer } from './answers.ts';
import {
  newWidgetKeyBody,
  WEB_SETTINGS_PATH,
  WIDGET_KEYS_PATH,
  webSettingsBody,
  widgetKeyChangeBody,
  widgetKeyParams,
} from './widget-key-routes.ts';

const one = `${WIDGET_KEYS_PATH}/:publicKey`;
const reading = { ...settings, method: 'get', scope: 'settings:read' } as const;
const changing = { ...settings, scope: 'settings:write', headers: IF_MATCH } as const;

export const widgetKeyOperations: readonly Operation[] = [
  {
    ...reading,
    route: WIDGET_KEYS_PATH,
    id: 'listWidgetKeys',
    summary: 'The public keys for web pages',
    description: 'With the origins that may use them.',
    answers: { 200: json('All of them.', widgetKeysAnswer, RATE_HEADERS) },
    errors: KEYED,
  },
  {
    ...settings,
    method: 'post',
    route: WIDGET_KEYS_PATH,
    id: 'createWidgetKey',
    summary: 'Make a public key',
    description: 'Without an origin it is refused everywhere.',
    scope: 'settings:write',
    headers: ONCE,
    body: newWidgetKeyBody,
    answers: { 201: json('The key.', storedWidgetKeyAnswer, { ...REPLAYED, ETag: TAGGED.ETag }) },
    errors: CREATING,
  },
  {
    ...reading,
    route: one,
    id: 'readWidgetKey',
    summary: 'A public key',
    description: 'Revoked ones can be read too.',
    params: widgetKeyParams,
    answers: { 200: json('The key.', widgetKeyAnswer, TAGGED) },
    errors: ['widget_key_not_found', 'invalid_request', ...KEYED],
  },
  {
    ...changing,
    method: 'patch',
    route: one,
    id: 'changeWidgetKey',
    summary: 'Change name, switch or allowed origins',
    description: 'The list of origins is replaced whole. Sessions that run go on.',
    params: widgetKeyParams,
    body: widgetKeyChangeBody,
    answers: { 200: json('The key.', storedWidgetKeyAnswer, TAGGED) },
    errors: ['widget_key_not_found', ...CHANGING],
  },
  {
    ...changing,
    method: 'delete',
    route: one,
    id: 'revokeWidgetKey',
    summary: 'Revoke a public key for good',
    description: 'New sessions and tokens are refused at once; sessions that run go on.',
    params: widgetKeyParams,
    answers: { 200: json('The key.', storedWidgetKeyAnswer, RATE_HEADERS) },
    errors: ['widget_key_not_found', ...CHANGING],
  },
  {
    ...reading,
    route: WEB_SETTINGS_PATH,
    id: 'readWebSettings',
    summary: 'How web sessions are',
    description: 'How many there may be is among the limits.',
    answers: { 200: json('The settings.', webSettingsAnswer, TAGGED) },
    errors: KEYED,
  },
  {
    ...changing,
    method: 'patch',
    route: WEB_SETTINGS_PATH,
    id: 'changeWebSettings',
    summary: 'Change how web sessions are',
    description: 'For sessions that begin from now on.',
    body: webSettingsBody,
    answers: { 200: json('The settings.', webSettingsAnswer, TAGGED) },
    errors: CHANGING,
  },
];
