/**
 * "POST /api/outbound-call", its fields and its "Errors". Calls that are placed here ring nobody for long: they are
 * ended at once.
 */
import type { OutboundCall } from '../../../clients/typescript/src/client.ts';
import { NUMBERS } from '../agents.ts';
import { holds, refusal, refusedWith, row, type Section, same } from '../row.ts';
import type { Stage } from '../stage.ts';

const ONCE = { idempotencyKey: null } as const;
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

const body = ({ acme }: Stage, change: object = {}): { body: OutboundCall } => ({
  body: { to: NUMBERS.absent, agentId: acme.agentId, enterprise: acme.slug, from: acme.lineId, ...change },
});

/** Without these fields, as no typed client would send it. */
function without(stage: Stage, ...fields: string[]): { body: OutboundCall } {
  const entries = Object.entries(body(stage).body).filter(([name]) => !fields.includes(name));
  return { body: Object.fromEntries(entries) as unknown as OutboundCall };
}

/** Absent it is missed; with `wrong` in its place it is refused in these words. */
const required = (field: string, look: string, wrong: string, told: [number, string]): ReturnType<typeof row> =>
  row(`Body | ${field} | required`, look, async (stage) => {
    await refusedWith(400, 'Missing required fields', stage.client.placeCall(without(stage, field), ONCE));
    await refusedWith(...told, stage.client.placeCall(body(stage, { [field]: wrong }), ONCE));
  });

const NOBODY = '00000000-0000-4000-8000-000000000000';

export const outboundCall: Section = {
  title: 'Endpoints: POST /api/outbound-call',
  rows: [
    row(
      'Header | Authorization | Bearer <API_KEY>',
      'With the key it is placed; the answer has exactly two fields.',
      async (stage) => {
        const { status, data } = await stage.client.placeCall(body(stage));
        same('status', status, 200);
        same('fields', Object.keys(data), ['success', 'callUuid']);
      },
    ),
    row(
      'Header | Content-Type | application/json',
      'Another type is refused before the body is looked at.',
      async (stage) => {
        const refused = await stage.fetch(`${stage.base}/api/outbound-call`, {
          method: 'POST',
          headers: { authorization: `Bearer ${stage.acme.key}`, 'content-type': 'text/plain' },
          body: 'to=+14155550123',
        });
        same('status', refused.status, 415);
      },
    ),
    row('Body | to | E.164', 'Once absent, once without its +: the message names the field.', async (stage) => {
      await refusedWith(400, 'Missing required fields', stage.client.placeCall(without(stage, 'to'), ONCE));
      await refusedWith(400, "Invalid 'to' format", stage.client.placeCall(body(stage, { to: '4155550123' }), ONCE));
    }),
    required('agentId', 'Once absent, once the UUID of no agent of the workspace.', NOBODY, [404, 'Agent not found']),
    required('enterprise', "Once absent, once another slug than the key's: answered like a wrong key.", 'other', [
      401,
      'Authentication failed (Unauthorized)',
    ]),
    required('from', 'Once absent, once no UUID.', 'line-1', [400, "Invalid 'from' phone ID format"]),
    row(
      'Body | name | no | Default: Customer',
      'Without a name the agent says "Customer": the log has it.',
      async (stage) => {
        const { data } = await stage.client.readCall({ callUuid: await stage.absent });
        stage.tell({ request: 'of this answer', answer: JSON.stringify({ name: data.name }) });
        same('name', data.name, 'Customer');
      },
    ),
    row(
      'Body | metadata | no | each key becomes {{<key>}}',
      'Kept with the call, and spoken (see "Script placeholders").',
      async (stage) => {
        const { entry } = await stage.main;
        stage.tell({ request: 'of the entry of the first call', answer: JSON.stringify(entry.metadata) });
        same('metadata', entry.metadata, { order_id: 'A-17', delivery_day: 'Thursday' });
      },
    ),
    row(
      'Response | success | true when the carrier accepted the call',
      'The emulated carrier has the call under its own id.',
      async (stage) => {
        const before = (await stage.gateway.emulator.calls()).length;
        const { data } = await stage.client.placeCall(body(stage));
        same('success', data.success, true);
        const after = (await stage.gateway.emulator.calls()).length;
        stage.tell({ request: 'calls that the carrier knows', answer: `${before} before, ${after} after` });
        same('one more at the carrier', after, before + 1);
      },
    ),
    row(
      'Response | callUuid',
      'Repeated with the same Idempotency-Key it is the same call; no second phone rings.',
      async (stage) => {
        const key = { idempotencyKey: 'tour-1' };
        const [first, again] = [
          await stage.client.placeCall(body(stage), key),
          await stage.client.placeCall(body(stage), key),
        ];
        holds('a UUID', UUID.test(first.data.callUuid));
        same('callUuid', again.data.callUuid, first.data.callUuid);
        same('replayed', again.replayed, true);
      },
    ),
  ],
};

export const errors: Section = {
  title: 'Errors (of /api/outbound-call: exactly success and message)',
  rows: [
    row('400 | Missing required fields', 'to, agentId and enterprise are absent.', async (stage) => {
      const sent = without(stage, 'to', 'agentId', 'enterprise');
      await refusedWith(400, 'Missing required fields', stage.client.placeCall(sent, ONCE));
    }),
    row(
      "400 | Invalid 'from' phone ID format",
      'Once no UUID, once a UUID that is no line of the workspace.',
      async (stage) => {
        for (const from of ['line-1', '00000000-0000-4000-8000-000000000000']) {
          await refusedWith(400, "Invalid 'from' phone ID format", stage.client.placeCall(body(stage, { from }), ONCE));
        }
      },
    ),
    row(
      '400 | Credentials missing',
      'A workspace without a phone number. The full message points to the settings.',
      async (stage) => {
        const bare = await bareWorkspace(stage);
        const sent = { ...body(stage).body, enterprise: bare.slug };
        const message =
          'Credentials missing. Add a phone number and credentials in Phone numbers and Telephony settings.';
        await refusedWith(400, message, stage.clientOf(bare.key).placeCall({ body: sent }, ONCE));
      },
    ),
    row('401 | Authentication failed (Unauthorized)', 'Once without a key, once with a wrong one.', async (stage) => {
      for (const key of [undefined, stage.acme.key.replace(/.$/, (last) => (last === 'a' ? 'b' : 'a'))]) {
        const work = stage.clientOf(key).placeCall(body(stage), ONCE);
        await refusedWith(401, 'Authentication failed (Unauthorized)', work);
      }
    }),
    row(
      '429 | Carrier rate limit exceeded',
      'A line that may hold one call at once holds one. Retry-After says when to come again.',
      async (stage) => {
        const line = await busyLine(stage);
        const sent = body(stage, { from: line, to: NUMBERS.slow });
        const { data } = await stage.client.placeCall(sent);
        const error = await refusedWith(429, 'Carrier rate limit exceeded', stage.client.placeCall(sent, ONCE));
        holds('Retry-After', (error.retryAfterSeconds ?? 0) >= 1);
        await stage.client.hangUp({ callUuid: data.callUuid });
      },
    ),
    row(
      '500 | Internal server error',
      'The carrier breaks the connection off: nobody knows whether it dials. The call is named in X-Call-Uuid, never dialled twice.',
      async (stage) => {
        const work = stage.client.placeCall(body(stage, { to: NUMBERS.broken }), ONCE);
        const error = await refusedWith(500, 'Internal server error', work);
        holds('X-Call-Uuid', UUID.test(error.callUuid ?? ''));
      },
    ),
    row(
      'Errors of the embed session and lead endpoints: not shown.',
      'Settled by the contract: the same two fields, and a code in X-Error-Code.',
      async (stage) => {
        const { slug } = stage.acme;
        await refusedWith(
          400,
          "Invalid 'phone' format",
          stage.client.createLead({ body: { enterprise: slug, phone: '12' } }),
        );
        const unknown = await refusal(
          stage.clientOf(undefined).createEmbedSession(
            {
              body: { publicKey: 'pk_unknown', agentId: stage.acme.webAgentId, parentOrigin: stage.origin },
            },
            { headers: { origin: stage.origin } },
          ),
        );
        same('message', unknown.message, 'Invalid public key');
      },
    ),
  ],
};

export const limits: Section = {
  title: 'Limits',
  rows: [
    row(
      'Carrier rate limit | HTTP 429',
      "The workspace sees what it may use and uses; it sets its limits within the operator's caps.",
      async (stage) => {
        await stage.client.readLimits();
        const refused = await refusal(stage.client.changeLimitSettings({ body: { concurrentCalls: 1_000 } }));
        same('above the cap', refused.code, 'setting_refused');
      },
    ),
    row(
      'Numeric rate limits and concurrency caps: not shown.',
      "Settled: every answer says what is left of the key's own rate.",
      async (stage) => {
        const { headers } = await stage.client.listAgents();
        stage.tell({
          request: 'headers',
          answer: `RateLimit-Policy: ${headers.get('ratelimit-policy')}; RateLimit: ${headers.get('ratelimit')}`,
        });
        holds('RateLimit', /"api";r=\d+/.test(headers.get('ratelimit') ?? ''));
      },
    ),
  ],
};

/** Made over HTTP by the operator, with a key and nothing else. */
async function bareWorkspace(stage: Stage): Promise<{ slug: string; key: string }> {
  const operator = stage.clientOf(stage.operatorKey);
  const slug = `bare-${Date.now().toString(36)}`;
  await operator.createWorkspace({ body: { slug, name: 'Bare' } });
  await operator.changeWorkspace({ slug, body: { apiEnabled: true } });
  const made = await operator.createWorkspaceKey({ slug, body: { name: 'first', scopes: ['calls:write'] } });
  stage.takeExchanges();
  return { slug, key: made.data.secret };
}

async function busyLine(stage: Stage): Promise<string> {
  const { authId, authToken } = stage.gateway.emulator.credentials;
  const line = {
    number: '+14155550191',
    carrier: 'plivo' as const,
    credentials: { authId, authToken },
    limits: { concurrentCalls: 1, callsPerSecond: 20 },
  };
  const { data } = await stage.quiet.createPhoneNumber({ body: line });
  return data.phoneNumber.id;
}
