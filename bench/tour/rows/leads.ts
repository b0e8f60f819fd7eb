/** "POST /api/developer/leads" and its call. */
import { NUMBERS } from '../agents.ts';
import { holds, refusedWith, row, type Section, same } from '../row.ts';
import type { Stage } from '../stage.ts';

const lead = ({ acme }: Stage, change: object = {}) => ({
  body: {
    enterprise: acme.slug,
    agentId: acme.agentId,
    name: 'Lee',
    phone: NUMBERS.absent,
    notes: 'called on Monday',
    source: 'website',
    ...change,
  },
});

const ALIASES = ['phone', 'phone_number', 'mobile'] as const;

export const createLead: Section = {
  title: 'Endpoints: POST /api/developer/leads',
  rows: [
    row('enterprise', 'Without it the request is refused.', async (stage) => {
      const { enterprise: _left, ...body } = lead(stage).body;
      await refusedWith(400, 'Missing required fields', stage.client.createLead({ body: body as never }));
    }),
    row('agentId', 'It must be an agent of the workspace.', async (stage) => {
      const agentId = '00000000-0000-4000-8000-000000000000';
      await refusedWith(404, 'Agent not found', stage.client.createLead(lead(stage, { agentId })));
    }),
    row('name', 'It fills {{customer_name}} when the lead is called.', async (stage) => {
      const { data } = await stage.client.createLead(lead(stage, { name: 'Ada' }));
      same('name', data.lead.name, 'Ada');
    }),
    row(
      'phone; the aliases phone_number and mobile',
      'The same value by each of its names; two that differ are refused.',
      async (stage) => {
        for (const alias of ALIASES) {
          const { phone: _left, ...rest } = lead(stage).body;
          const { data } = await stage.client.createLead({ body: { ...rest, [alias]: '+1 (415) 555-0126' } });
          same(alias, data.lead.phone, NUMBERS.absent);
        }
        const two = lead(stage, { mobile: '+14155550111' });
        await refusedWith(400, 'Conflicting phone fields', stage.client.createLead(two));
      },
    ),
    row('notes', 'Kept as it was given.', async (stage) => {
      const { data } = await stage.client.createLead(lead(stage, { notes: 'prefers the morning' }));
      same('notes', data.lead.notes, 'prefers the morning');
    }),
    row('source', 'Leads can be listed by it.', async (stage) => {
      await stage.client.createLead(lead(stage, { source: 'fair' }));
      const { data } = await stage.client.listLeads({ source: 'fair' });
      same('leads of this source', data.data.length, 1);
    }),
    row('Success: HTTP 201, body contains lead with field id.', 'Status and body.', async (stage) => {
      const { status, data } = await stage.client.createLead(lead(stage));
      same('status', status, 201);
      holds('id', data.lead.id.length === 36);
    }),
  ],
};

export const callLead: Section = {
  title: 'Endpoints: POST /api/developer/leads/{leadId}/call',
  rows: [
    row(
      'Calls an existing lead immediately. Path parameter leadId is lead.id.',
      "No body is needed: agent and line are the lead's and the workspace's. The entry of the log names the lead.",
      async (stage) => {
        await stage.client.changeCallingSettings({ body: { defaultLineId: stage.acme.lineId } });
        stage.takeExchanges();
        const made = await stage.client.createLead(lead(stage));
        const leadId = made.data.lead.id;
        const called = await stage.client.callLead({ leadId });
        same('fields', Object.keys(called.data), ['success', 'callUuid', 'leadId']);
        const entry = await stage.client.readCall({ callUuid: called.data.callUuid });
        same('the lead of the entry', entry.data.leadId, leadId);
      },
    ),
    row('Authorization: Bearer <API_KEY>', 'Without the key, as everywhere.', async (stage) => {
      const work = stage.clientOf(undefined).callLead({ leadId: '00000000-0000-4000-8000-000000000000' });
      await refusedWith(401, 'Authentication failed (Unauthorized)', work);
    }),
    row('An unknown lead: not shown.', 'Settled: 404.', async (stage) => {
      const work = stage.client.callLead({ leadId: '00000000-0000-4000-8000-000000000000' });
      await refusedWith(404, 'Lead not found', work);
    }),
  ],
};
