/** "What the service does", "Resources and their fields", "States and transitions". */
import { holds, row, type Section, same } from '../row.ts';
import { finish } from '../stage.ts';
import { showStatuses } from './website.ts';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

export const whatTheServiceDoes: Section = {
  title: 'What the service does',
  rows: [
    row(
      'An API client asks the service to place an outbound phone call; the request returns once the call is placed.',
      'The answer came while the call was not yet over: the log showed it as dialing, ringing or in_progress.',
      async (stage) => {
        const { answer, statusThen } = stage.placedBefore;
        stage.tell(answer);
        stage.tell({ request: 'the call log, right after the answer', answer: `status ${statusThen}` });
        holds('the call goes on after the answer', ['dialing', 'ringing', 'in_progress'].includes(statusThen));
      },
    ),
    row(
      'A website can embed a voice widget that starts a browser voice session with an agent after a click.',
      'One script; what a click on its page does is in the rows of "Embed script".',
      async (stage) => {
        const response = await stage.fetch(`${stage.base}/embed.js`);
        same('status', response.status, 200);
        holds('it is a script', (response.headers.get('content-type') ?? '').includes('javascript'));
      },
    ),
    row(
      'A client can create a lead and then call that lead.',
      'Two requests: the lead, and its call. The rows of the lead endpoints have each field.',
      async (stage) => {
        const { enterprise, agentId } = { enterprise: stage.acme.slug, agentId: stage.acme.agentId };
        const made = await stage.client.createLead({
          body: { enterprise, agentId, name: 'Kim', phone: '+14155550126' },
        });
        const called = await stage.client.callLead({ leadId: made.data.lead.id });
        holds('a call', UUID.test(called.data.callUuid));
      },
    ),
    row(
      'The service can send the client a webhook when a call ends and when later results are ready.',
      'Three for this call: its end, its recording, its analysis. All verified by the client.',
      async (stage) => {
        const { callUuid } = await stage.main;
        for (const event of ['call.completed', 'recording.ready', 'analysis.completed']) {
          const delivery = await stage.customer.waitFor(
            event,
            (one) => one.event.callUuid === callUuid && one.event.event === event,
          );
          stage.tell({ request: `POST (webhook) ${event} for ${callUuid}`, answer: '200, signature verified' });
          holds(`${event} is verified`, delivery.verified);
        }
      },
    ),
    row(
      'An agent can, during a live call, call a client-defined external POST endpoint (a custom tool) and speak the response.',
      "The endpoint was asked while the call ran; what it answered is in the agent's next words, as heard at the phone.",
      async (stage) => {
        const { callUuid, entry } = await stage.main;
        const asked = stage.customer.toolRequests.find(
          ({ body }) => (body['call'] as { callUuid?: string })?.callUuid === callUuid,
        );
        stage.tell({
          request: `POST (custom tool) ${JSON.stringify(asked?.body)}`,
          answer: '200 {"result":{"place":"around the corner"}}',
        });
        same('its arguments', asked?.body['arguments'], { order: 'A-17' });
        same('its secret header', asked?.headers['x-shop-key'], 'shop-secret');
        holds('its signature', asked?.verified === true);
        stage.tell({ request: 'what was heard', answer: entry.transcript ?? '' });
        holds('the answer was spoken', /around the corner/.test(entry.transcript ?? ''));
      },
    ),
    row(
      "After a call ends, its recording, transcript, summary and detected intent appear in the application's call logs.",
      'All four in one entry of the log.',
      async (stage) => {
        const { callUuid } = await stage.main;
        const { data } = await stage.client.readCall({ callUuid });
        const { recording, transcript, summary, intent } = data;
        stage.tell({
          request: 'of this answer',
          answer: JSON.stringify({ recording: recording.status, transcript, summary, intent }),
        });
        same('recording', recording.status, 'ready');
        holds('transcript', /Thursday/.test(transcript ?? ''));
        holds('summary', (summary ?? '') !== '');
        holds('intent', (intent ?? '') !== '');
      },
    ),
    row(
      'Script placeholders: {{customer_name}} from name, and {{<key>}} for every key of metadata.',
      'The script says "Hello {{customer_name}}" and "comes on {{delivery_day}}"; this is what was heard at the phone.',
      async (stage) => {
        const { entry } = await stage.main;
        stage.tell({
          request: '{"name":"Dana","metadata":{"order_id":"A-17","delivery_day":"Thursday"}}',
          answer: (entry.transcript ?? '').split('\n').slice(0, 2).join(' / '),
        });
        holds('the name', /Hello Dana/.test(entry.transcript ?? ''));
        holds('the metadata', /comes on Thursday/.test(entry.transcript ?? ''));
        holds('no braces', !/[{}]/.test(entry.transcript ?? ''));
      },
    ),
  ],
};

export const resources: Section = {
  title: 'Resources and their fields',
  rows: [
    row('Workspace | slug', 'Made by the operator; the name that requests call `enterprise`.', async (stage) => {
      const { data } = await stage.clientOf(stage.operatorKey).readWorkspace({ slug: 'acme' });
      same('slug', data.slug, 'acme');
    }),
    row('Agent | UUID', 'An outbound agent; its id is `agentId`.', async (stage) => {
      const { data } = await stage.client.listAgents();
      const agent = data.data.find(({ id }) => id === stage.acme.agentId);
      same('direction', agent?.direction, 'outbound');
      holds('a UUID', UUID.test(agent?.id ?? ''));
    }),
    row(
      'Phone number record | UUID',
      'A line of the workspace; its id is `from`. Its credentials cannot be read.',
      async (stage) => {
        const { data } = await stage.client.readPhoneNumber({ lineId: stage.acme.lineId });
        same('credentials', data.hasCredentials, true);
      },
    ),
    row('Call | callUuid', 'What the placement returned names the entry of the call log.', async (stage) => {
      const { callUuid, entry } = await stage.main;
      stage.tell({
        request: `callUuid of the placement: ${callUuid}`,
        answer: `callUuid of the entry: ${entry.callUuid}`,
      });
      same('callUuid', entry.callUuid, callUuid);
    }),
    row('Lead | id', 'lead.id, and the lead by it.', async (stage) => {
      const { data } = await stage.client.listLeads({ limit: 1 });
      const read = await stage.client.readLead({ leadId: data.data[0]!.id });
      same('id', read.data.id, data.data[0]!.id);
    }),
    row(
      'Embed session token | token',
      'A JWT: three parts, the second says for whom, how long and where it holds.',
      async (stage) => {
        const { token } = await stage.web;
        const claims = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as Record<
          string,
          unknown
        >;
        stage.tell({ request: `${token.slice(0, 40)}…`, answer: JSON.stringify(claims) });
        same('lifetime', Number(claims['exp']) - Number(claims['iat']), 60);
        same('origin', claims['origin'], stage.origin);
      },
    ),
    row(
      'Call log entry',
      'Recording, transcript, AI summary and detected intent; `analysis` says which model read it.',
      async (stage) => {
        const { callUuid } = await stage.main;
        const { data } = await stage.client.listCalls({ limit: 200 });
        const entry = data.data.find((one) => one.callUuid === callUuid);
        holds('it is in the list', entry !== undefined);
        const sound = await stage.client.readRecording({ callUuid });
        const bytes = new Uint8Array(sound.data);
        stage.tell({
          request: 'GET …/recording',
          answer: `${bytes.length} bytes, ${Buffer.from(bytes.subarray(0, 4)).toString()}`,
        });
        same('a recording that can be played', Buffer.from(bytes.subarray(0, 4)).toString(), 'OggS');
      },
    ),
  ],
};

export const states: Section = {
  title: 'States and transitions',
  rows: [
    row(
      'Widget statuses (field status): connecting, connected, disconnected, error.',
      'What a handler on a real page was told, in order.',
      (stage) => showStatuses(stage),
    ),
    row(
      'Call states and transitions: not shown.',
      'Settled by the contract: each call ends in exactly one of three states, and says why.',
      async (stage) => {
        for (const scene of [stage.absent, stage.unallocated]) {
          const { entry } = await finish(stage.client, await scene);
          stage.takeExchanges();
          stage.tell({
            request: `GET /api/developer/calls/${entry.callUuid}`,
            answer: `${entry.status}, ${entry.endedReason}`,
          });
        }
        const { entry } = await stage.main;
        same('status', [entry.status, entry.endedReason], ['completed', 'agent_hangup']);
      },
    ),
  ],
};
