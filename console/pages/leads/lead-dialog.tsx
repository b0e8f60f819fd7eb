/** A lead to read and to change, or a new one. */
import { useState } from 'preact/hooks';
import type { Lead } from '../../../clients/typescript/src/client.ts';
import { clientOf } from '../../api/request.ts';
import { may } from '../../api/session.ts';
import { common } from '../../texts/en/common.ts';
import { leads as words } from '../../texts/en/leads.ts';
import { to } from '../../ui/address.ts';
import { Button } from '../../ui/button.tsx';
import { Confirm, Dialog } from '../../ui/dialog.tsx';
import { Area, Check, Select, Text } from '../../ui/field.tsx';
import { Form } from '../../ui/form.tsx';
import { useLoad } from '../../ui/load.ts';
import { Facts } from '../../ui/page.tsx';
import { Failure } from '../../ui/states.tsx';
import { Words } from '../../ui/text.tsx';
import { toast } from '../../ui/toast.tsx';

export interface LeadDialogProps {
  enterprise: string;
  lead: Lead | null;
  error?: unknown;
  onClose(): void;
  onChange(): void;
}

const FIELDS = ['phone', 'name', 'agentId', 'source', 'externalId', 'timezone', 'notes', 'status'];

export function LeadDialog({ enterprise, lead, error, onClose, onChange }: LeadDialogProps) {
  const client = clientOf(enterprise);
  const [phone, setPhone] = useState(lead?.phone ?? '');
  const [name, setName] = useState(lead?.name ?? '');
  const [agentId, setAgentId] = useState(lead?.agentId ?? '');
  const [source, setSource] = useState(lead?.source ?? '');
  const [externalId, setExternalId] = useState(lead?.externalId ?? '');
  const [timezone, setTimezone] = useState(lead?.timezone ?? '');
  const [notes, setNotes] = useState(lead?.notes ?? '');
  const [isBlocked, setBlocked] = useState(lead?.status === 'do_not_contact');
  const [isDeleting, setDeleting] = useState(false);
  const agents = useLoad(async (signal) => (await client.listAgents({}, { signal })).data.data, [enterprise]);
  if (error !== undefined) {
    return (
      <Dialog title={words.edit} onClose={onClose}>
        <Failure error={error} />
      </Dialog>
    );
  }
  const orNull = (text: string): string | null => (text.trim() === '' ? null : text.trim());

  async function save(): Promise<void> {
    const given = {
      name: orNull(name),
      agentId: orNull(agentId),
      source: orNull(source),
      externalId: orNull(externalId),
      timezone: orNull(timezone),
      notes: orNull(notes),
    };
    if (lead === null) {
      await client.createLead({ body: { enterprise, phone, ...given } });
      toast(words.added);
    } else {
      const wasBlocked = lead.status === 'do_not_contact';
      const status =
        isBlocked === wasBlocked ? {} : { status: isBlocked ? ('do_not_contact' as const) : ('new' as const) };
      await client.changeLead({
        leadId: lead.id,
        body: { ...given, ...(phone === lead.phone ? {} : { phone }), ...status },
      });
      toast(words.saved);
    }
    onChange();
    onClose();
  }
  if (isDeleting && lead !== null) {
    return (
      <Confirm
        title={words.deleteAction}
        action={words.deleteAction}
        isDangerous
        run={async () => {
          await client.deleteLead({ leadId: lead.id });
          toast(words.deleted);
          onChange();
        }}
        onClose={onClose}
      >
        <p>{words.deleteAsk}</p>
      </Confirm>
    );
  }
  return (
    <Dialog title={lead === null ? words.add : words.edit} onClose={onClose}>
      <Form submit={save} action={common.save} isDisabled={!may('leads:write')} fields={FIELDS} onCancel={onClose}>
        {(faults) => (
          <>
            <Text
              label={words.number}
              type="tel"
              help={words.numberHelp}
              isRequired
              value={phone}
              fault={faults['phone']}
              onInput={setPhone}
            />
            <Text label={words.name} value={name} fault={faults['name']} onInput={setName} />
            <Select
              label={words.agent}
              value={agentId}
              fault={faults['agentId']}
              options={[
                { value: '', label: words.agentOfWorkspace },
                ...(agents.data ?? [])
                  .filter(({ direction }) => direction === 'outbound' || direction === 'any')
                  .map((one) => ({ value: one.id, label: one.name })),
              ]}
              onInput={setAgentId}
            />
            <div class="columns">
              <Text label={words.source} value={source} fault={faults['source']} onInput={setSource} />
              <Text
                label={words.externalId}
                help={words.externalIdHelp}
                value={externalId}
                fault={faults['externalId']}
                onInput={setExternalId}
              />
            </div>
            <Text
              label={words.timezone}
              help={words.timezoneHelp}
              value={timezone}
              fault={faults['timezone']}
              onInput={setTimezone}
            />
            <Area label={words.notes} help={words.notesHelp} value={notes} fault={faults['notes']} onInput={setNotes} />
            {lead === null ? null : (
              <>
                <Variables metadata={lead.metadata} />
                <Check label={words.doNotCall} isOn={isBlocked} onInput={setBlocked} />
                <div class="line apart">
                  <a href={to(['w', enterprise, 'calls'], { leadId: lead.id })}>{words.calls}</a>
                  {may('leads:write') ? (
                    <Button kind="danger" icon="trash" onPress={() => setDeleting(true)}>
                      {words.deleteAction}
                    </Button>
                  ) : null}
                </div>
              </>
            )}
          </>
        )}
      </Form>
    </Dialog>
  );
}

/** Columns of an import that are none of a lead's own. */
function Variables({ metadata }: Pick<Lead, 'metadata'>) {
  const all = Object.entries(metadata);
  if (all.length === 0) return null;
  return (
    <section class="stack tight">
      <h3>{words.variables}</h3>
      <Facts
        facts={all.map(([name, value]) => [
          name,
          <Words key={name}>{typeof value === 'string' ? value : JSON.stringify(value)}</Words>,
        ])}
      />
    </section>
  );
}
