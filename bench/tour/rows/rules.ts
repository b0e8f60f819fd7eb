/** "Authentication", "Events" and "Versioning". */
import { holds, refusal, refusedWith, row, type Section, same } from '../row.ts';
import type { Stage } from '../stage.ts';

const NOBODY = '00000000-0000-4000-8000-000000000000';

export const authentication: Section = {
  title: 'Authentication',
  rows: [
    row(
      '/api/outbound-call and the lead endpoints | only the Authorization header',
      'The key in another header and in the query opens nothing.',
      async (stage) => {
        const { key } = stage.acme;
        const response = await stage.fetch(`${stage.base}/api/outbound-call?apiKey=${key}`, {
          method: 'POST',
          headers: { 'x-api-key': key, 'content-type': 'application/json' },
          body: '{}',
        });
        same('status', response.status, 401);
      },
    ),
    row(
      '/api/embed/session | public widget key plus an origin check',
      "The same request with and without the website's Origin.",
      async (stage) => {
        const { acme, origin } = stage;
        const asked = { body: { publicKey: acme.publicKey, agentId: acme.webAgentId, parentOrigin: origin } };
        const page = stage.clientOf(undefined);
        same('with', (await page.createEmbedSession(asked, { headers: { origin } })).status, 200);
        await refusedWith(
          403,
          'Origin not allowed',
          page.createEmbedSession(asked, { headers: { origin: 'https://a.example' } }),
        );
      },
    ),
    row(
      '/ws/live | token plus parentOrigin',
      'A token opens one socket: the second one is told so, and closed with 4401.',
      async (stage) => {
        const { token } = await stage.web;
        const [message, code] = await openSocket(stage, token);
        stage.tell({ request: 'WS /ws/live with a token that was used', answer: `${message}; closed ${code}` });
        same('close code', code, 4401);
      },
    ),
    row(
      '1. The API key exists only after API access is enabled by the service operator.',
      'Before: no key can be made. After: one can, and it is shown this once.',
      async (stage) => {
        const operator = stage.clientOf(stage.operatorKey);
        const slug = `nova-${Date.now().toString(36)}`;
        await operator.createWorkspace({ body: { slug, name: 'Nova' } });
        const wanted = { slug, body: { name: 'first', scopes: ['calls:read' as const] } };
        same('before', (await refusal(operator.createWorkspaceKey(wanted))).code, 'setting_refused');
        await operator.changeWorkspace({ slug, body: { apiEnabled: true } });
        holds('after', (await operator.createWorkspaceKey(wanted)).data.secret.startsWith('sv_live_'));
      },
    ),
    row(
      '2. The API key is a secret.',
      'It is listed without its secret, and no log line of this run holds it.',
      async (stage) => {
        const { data } = await stage.client.listKeys();
        holds('not in the list', !JSON.stringify(data).includes(stage.acme.key));
        const audit = await stage.client.listAudit({ limit: 200 });
        holds('not in the audit', !JSON.stringify(audit.data).includes(stage.acme.key));
        stage.takeExchanges();
        stage.tell({ request: 'GET /api/developer/keys, GET /api/developer/audit', answer: 'neither holds the key' });
      },
    ),
    row(
      '3. The public widget key is not secret; it is bound to allowlisted domains.',
      'Its list of websites is a setting; without one it opens nothing.',
      async (stage) => {
        const made = await stage.client.createWidgetKey({ body: { name: 'Nowhere' } });
        const { publicKey } = made.data.widgetKey;
        const { origin, acme } = stage;
        const asked = { body: { publicKey, agentId: acme.webAgentId, parentOrigin: origin } };
        const page = stage.clientOf(undefined);
        await refusedWith(403, 'Origin not allowed', page.createEmbedSession(asked, { headers: { origin } }));
      },
    ),
    row('4. A missing or invalid Bearer key gives HTTP 401.', 'Here on the lead endpoint.', async (stage) => {
      const work = stage.clientOf(undefined).createLead({ body: { enterprise: 'acme', phone: '+14155550126' } });
      await refusedWith(401, 'Authentication failed (Unauthorized)', work);
    }),
    row(
      '5. Token lifetime value and key rotation: not shown.',
      'Settled: 60 s to open one socket; a rotated key goes on for as long as was asked.',
      async (stage) => {
        const made = await stage.client.createKey({ body: { name: 'old', scopes: ['calls:read'] } });
        const rotated = await stage.client.rotateKey({ keyId: made.data.key.keyId, body: { overlapSeconds: 60 } });
        for (const key of [made.data.secret, rotated.data.secret]) {
          same('both open', (await stage.clientOf(key).readLimits()).status, 200);
        }
      },
    ),
  ],
};

/** The event of a call, and what the specification's receivers read of it. */
async function shown(stage: Stage, event: string, callUuid: string): Promise<Record<string, unknown>> {
  const one = await stage.customer.waitFor(
    event,
    (delivery) => delivery.event.event === event && delivery.event.callUuid === callUuid,
  );
  const { to, transcript, intent, summary, sequence, apiVersion } = one.event;
  stage.tell({
    request: `POST (webhook) ${JSON.stringify({ event, callUuid, to, transcript, intent, summary, sequence, apiVersion })}`,
    answer: `200; signature ${one.verified ? 'verified' : 'NOT VERIFIED'} by the client, attempt ${one.attempt}`,
  });
  holds('signature', one.verified);
  same('content type', one.contentType, 'application/json');
  return one.event;
}

export const events: Section = {
  title: 'Events',
  rows: [
    row(
      'call.completed | The call finished.',
      'With the transcript of what was heard; intent and summary come later.',
      async (stage) => {
        const { callUuid } = await stage.main;
        const event = await shown(stage, 'call.completed', callUuid);
        holds('transcript', String(event['transcript']).includes('Hello Dana'));
      },
    ),
    row('call.no_answer | The call was not answered.', 'Nobody took the phone.', async (stage) => {
      await shown(stage, 'call.no_answer', await stage.absent);
    }),
    row('call.failed | The call failed.', 'The number does not exist.', async (stage) => {
      const event = await shown(stage, 'call.failed', await stage.unallocated);
      same('reason', event['endedReason'], 'invalid_number');
    }),
    row(
      'recording.ready | The recording is available.',
      'Only after the file was verified; with its checksum.',
      async (stage) => {
        const { callUuid } = await stage.main;
        const event = await shown(stage, 'recording.ready', callUuid);
        holds('checksum', /^[0-9a-f]{64}$/.test(String((event['recording'] as { sha256?: string })?.sha256)));
      },
    ),
    row(
      'analysis.completed | Analysis is done; body carries intent and summary.',
      'Both; `analysis.model` says who read the call: without a chat endpoint of the workspace a local heuristic.',
      async (stage) => {
        const { callUuid } = await stage.main;
        const event = await shown(stage, 'analysis.completed', callUuid);
        holds('intent', String(event['intent'] ?? '') !== '');
        holds('summary', String(event['summary'] ?? '') !== '');
        stage.tell({ request: 'analysis.model', answer: String((event['analysis'] as { model?: string })?.model) });
      },
    ),
    row(
      'Body fields: event, callUuid, to, transcript, intent, summary',
      'In every event, null while unknown.',
      async (stage) => {
        const { callUuid } = await stage.main;
        const fields = ['event', 'callUuid', 'to', 'transcript', 'intent', 'summary'];
        for (const { event } of stage.customer.deliveries(callUuid)) {
          stage.tell({ request: event.event, answer: fields.filter((name) => name in event).join(', ') });
          for (const field of fields) holds(`${event.event} has ${field}`, field in event);
        }
      },
    ),
    row(
      'Rule 1. The receiver answers with HTTP 200 promptly, within about 3 seconds.',
      'One that does is not asked again: each event of the call came once.',
      async (stage) => {
        const { callUuid } = await stage.main;
        const told = stage.customer.deliveries(callUuid).map(({ event }) => event);
        const ids = new Set(told.map(({ id }) => id));
        // On a machine that kept the receiver from answering one comes again, with the id that it had.
        if (told.length > ids.size) {
          const unanswered = await unansweredAttempts(stage, callUuid);
          holds('what was answered is not sent again', told.length - ids.size <= unanswered);
        }
        stage.tell({ request: 'events of the first call', answer: `${ids.size}, each with one id` });
        same('one of each', ids.size, new Set(told.map(({ event }) => event)).size);
      },
    ),
    row(
      'Rule 2. When the receiver takes longer than about 3 seconds, the service retries.',
      'The first attempt was answered after 3.6 s; a second came, with the same id.',
      async (stage) => {
        const callUuid = await stage.absent;
        const isIt =
          (attempt: number) =>
          (one: { event: { event: string; callUuid: string | null }; attempt: number }): boolean =>
            one.event.callUuid === callUuid && one.event.event === 'call.no_answer' && one.attempt === attempt;
        const first = await stage.customer.waitFor('the first attempt', isIt(1));
        const second = await stage.customer.waitFor('the second attempt', isIt(2));
        const seconds = ((second.atMs - first.atMs) / 1_000).toFixed(1);
        stage.tell({
          request: `attempt 1, answered after 3.6 s; attempt 2 came ${seconds} s after it`,
          answer: `webhook-id ${first.event.id} both times`,
        });
        same('id', second.event.id, first.event.id);
      },
    ),
    row(
      'Rule 3. Heavy work is done after the response.',
      'How the receiver of this tour does it: bench/tour/customer-server.ts answers first.',
      async (stage) => {
        stage.tell({ request: 'webhook', answer: 'response.writeHead(200).end(); then the work' });
      },
    ),
    row(
      'Rule 4. The client matches a webhook to its call by callUuid.',
      'The placement, the webhook and the entry of the log have one id.',
      async (stage) => {
        const { callUuid, entry } = await stage.main;
        const delivery = stage.customer.deliveries(callUuid)[0];
        stage.tell({
          request: `placed ${callUuid}`,
          answer: `webhook ${delivery?.event.callUuid}, log ${entry.callUuid}`,
        });
        same('one id', [delivery?.event.callUuid, entry.callUuid], [callUuid, callUuid]);
      },
    ),
    row(
      'Webhook signing: not shown.',
      'Settled: Standard Webhooks, two secrets while one is rotated.',
      async (stage) => {
        const before = await stage.client.readWebhook();
        const { data } = await stage.client.rotateWebhookSecret();
        stage.customer.setSecret(data.secret);
        holds(
          'both sign for 24 h',
          data.webhook.previousSecretUntil !== null && before.data.previousSecretUntil === null,
        );
        const sent = await stage.client.testWebhook();
        const arrived = await stage.customer.waitFor(
          'webhook.test',
          ({ event }) => event.id === sent.data.delivery.eventId,
        );
        same('verified with the new secret', arrived.verified, true);
      },
    ),
  ],
};

export const versioning: Section = {
  title: 'Versioning',
  rows: [
    row(
      'Versioning: not shown.',
      'Settled: the paths of the specification are version 1 for good; every answer says so, refusals too.',
      async (stage) => {
        const { headers } = await stage.client.listAgents();
        same('Service-Version', headers.get('service-version'), '1');
        const refused = await refusal(stage.client.readCall({ callUuid: NOBODY }));
        same('Service-Version of a refusal', refused.headers.get('service-version'), '1');
        stage.tell({ request: 'header of both', answer: 'Service-Version: 1' });
      },
    ),
  ],
};

/** So many attempts to tell of a call came to no answer, by the service's own log. */
async function unansweredAttempts(stage: Stage, callUuid: string): Promise<number> {
  const { data } = await stage.quiet.listWebhookDeliveries({ callUuid });
  const told = data.data.map(({ id }) => stage.quiet.readWebhookDelivery({ deliveryId: id }));
  const logs = (await Promise.all(told)).map((delivery) => delivery.data.attemptLog);
  return logs.flat().filter(({ status }) => status === null).length;
}

async function openSocket(stage: Stage, token: string): Promise<[string, number]> {
  const { WebSocket } = await import('ws');
  const url = `${stage.base.replace('http', 'ws')}/ws/live?token=${token}&parentOrigin=${encodeURIComponent(stage.origin)}`;
  const socket = new WebSocket(url, { origin: stage.origin });
  let message = '';
  socket.on('message', (data) => {
    message ||= String(data);
  });
  return new Promise((done, failed) => {
    socket.on('close', (code) => done([message, code]));
    socket.on('error', failed);
  });
}
