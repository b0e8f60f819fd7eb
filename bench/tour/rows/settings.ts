/**
 * What the specification configures "in the application": Phone numbers and Telephony settings, Developer API settings,
 * Web Embed settings, custom tools. Over the settings API, and without harm to a call that runs.
 */
import { NUMBERS, phoneAgent } from '../agents.ts';
import { holds, refusal, row, type Section, same } from '../row.ts';
import { finish } from '../stage.ts';

export const application: Section = {
  title: 'What is configured in the application',
  rows: [
    row(
      'Phone numbers and Telephony settings',
      'The credentials of a line are changed while a call rings from it. That call is still ended with those that it was placed with; the next one meets the new ones, which are wrong.',
      async (stage) => {
        const { acme, gateway, client } = stage;
        const { authId, authToken } = gateway.emulator.credentials;
        const credentials = { authId, authToken };
        const made = await stage.quiet.createPhoneNumber({
          body: { number: '+14155550192', carrier: 'plivo', credentials, limits: { callsPerSecond: 20 } },
        });
        const lineId = made.data.phoneNumber.id;
        const call = { to: NUMBERS.slow, agentId: acme.agentId, enterprise: acme.slug, from: lineId };
        const { data } = await client.placeCall({ body: call });
        const changed = { authId, authToken: 'another-token' };
        await stage.quiet.setPhoneNumberCredentials({ lineId, body: changed });
        stage.tell({
          request: `PUT /api/developer/phone-numbers/${lineId}/credentials`,
          answer: '200; they are never shown',
        });
        await client.hangUp({ callUuid: data.callUuid });
        const { entry } = await finish(stage.quiet, data.callUuid);
        const atCarrier = (await gateway.emulator.calls()).findLast(({ to }) => to.endsWith(NUMBERS.slow.slice(1)));
        stage.tell({
          request: 'the call in the log, and at the carrier',
          answer: `${entry.status}, ${entry.endedReason}; hung up there: ${atCarrier?.hungUpAtEpochMs !== null}`,
        });
        same('status', entry.status, 'no_answer');
        holds('hung up at the carrier', atCarrier?.hungUpAtEpochMs !== null);
        const next = await refusal(client.placeCall({ body: call }, { idempotencyKey: null }));
        same('the next call', next.code, 'carrier_auth');
        await client.deletePhoneNumber({ lineId });
      },
    ),
    row(
      'Developer API settings',
      'Keys with scopes: one that may only read is refused to change anything, and told which scope it lacks.',
      async (stage) => {
        const made = await stage.client.createKey({ body: { name: 'reader', scopes: ['settings:read'] } });
        const reader = stage.clientOf(made.data.secret);
        same('it reads', (await reader.listKeys()).status, 200);
        const refused = await refusal(reader.createWidgetKey({ body: { name: 'x' } }));
        same(
          'status and message',
          [refused.status, refused.message],
          [403, 'The API key lacks the scope settings:write'],
        );
        await stage.client.revokeKey({ keyId: made.data.key.keyId });
      },
    ),
    row(
      'Web Embed settings',
      'Two editors have read the same list of websites; the second one is refused instead of overwriting the first.',
      async (stage) => {
        const { publicKey } = stage.acme;
        const seen = await stage.client.readWidgetKey({ publicKey });
        const match = { headers: { 'if-match': seen.etag ?? '' } };
        const allowedOrigins = [...seen.data.allowedOrigins, 'https://shop.example.com'];
        await stage.client.changeWidgetKey({ publicKey, body: { allowedOrigins } }, match);
        const late = await refusal(stage.client.changeWidgetKey({ publicKey, body: { allowedOrigins: [] } }, match));
        same('status', late.status, 412);
      },
    ),
    row(
      'Custom tools are configured in the application',
      'Inside the agent: a faulty tool is refused with its path; a good one is the next version, and the old version can come back.',
      async (stage) => {
        const { agentId } = stage.acme;
        const definition = phoneAgent(stage.customer.toolUrl) as { tools: Record<string, unknown>[] };
        const faulty = { ...definition, tools: [{ ...definition.tools[0], timeoutMs: 1 }] };
        const refused = await refusal(stage.client.createAgentVersion({ agentId, body: { definition: faulty } }));
        same('path', refused.details[0]?.field, 'tools[0].timeoutMs');
        const better = { ...definition, tools: [{ ...definition.tools[0], timeoutMs: 3_000 }] };
        const stored = await stage.client.createAgentVersion({ agentId, body: { definition: better } });
        same('version', stored.data.agent.version, 2);
        const back = await stage.client.activateAgentVersion({ agentId, version: 1 });
        same('version', back.data.agent.version, 1);
      },
    ),
  ],
};
