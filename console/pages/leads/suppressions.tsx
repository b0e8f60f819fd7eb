/** Numbers that nothing of the workspace dials. */
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { Suppression } from '../../../clients/typescript/src/client.ts';
import { clientOf } from '../../api/request.ts';
import { may } from '../../api/session.ts';
import { common } from '../../texts/en/common.ts';
import { leads as words } from '../../texts/en/leads.ts';
import { to } from '../../ui/address.ts';
import { Button } from '../../ui/button.tsx';
import { useCursorList } from '../../ui/cursor-list.ts';
import { Confirm, Dialog } from '../../ui/dialog.tsx';
import { Area, Text } from '../../ui/field.tsx';
import { Form } from '../../ui/form.tsx';
import { Page, Section } from '../../ui/page.tsx';
import { Empty, Failure, Loading } from '../../ui/states.tsx';
import { Table } from '../../ui/table.tsx';
import { Words } from '../../ui/text.tsx';
import { Time } from '../../ui/time.tsx';
import { toast } from '../../ui/toast.tsx';

const PAGE = 100;

export function Suppressions({ enterprise, tabs }: { enterprise: string; tabs: ComponentChildren }) {
  const client = clientOf(enterprise);
  const [isAdding, setAdding] = useState(false);
  const [removed, setRemoved] = useState<string | null>(null);
  const list = useCursorList<Suppression>(
    [enterprise],
    async (cursor, signal) =>
      (await client.listSuppressions({ limit: PAGE, ...(cursor === null ? {} : { cursor }) }, { signal })).data,
    ({ phone }) => phone,
  );
  const mayWrite = may('leads:write');
  const { suppressionColumns: names } = words;
  return (
    <Page
      title={words.suppressions}
      isWide
      actions={
        mayWrite ? (
          <Button kind="main" icon="plus" onPress={() => setAdding(true)}>
            {words.suppress}
          </Button>
        ) : null
      }
    >
      {tabs}
      {list.error !== undefined && list.rows.length === 0 ? (
        <Failure error={list.error} onRetry={list.reload} />
      ) : list.isLoading && list.rows.length === 0 ? (
        <Loading />
      ) : list.rows.length === 0 ? (
        <Empty title={words.suppressionsEmpty}>{words.suppressionsAbout}</Empty>
      ) : (
        <Section title={words.suppressions} about={words.suppressionsAbout} isFlush>
          <Table
            label={words.suppressions}
            rows={list.rows}
            keyOf={({ phone }) => phone}
            columns={[
              { name: names.phone, cell: ({ phone }) => <Words>{phone}</Words> },
              { name: names.reason, cell: ({ reason }) => <Words>{reason}</Words> },
              {
                name: names.source,
                cell: ({ source, callUuid }) =>
                  callUuid === null ? (
                    words.suppressionSources[source]
                  ) : (
                    <a href={to(['w', enterprise, 'call', callUuid])}>{words.suppressionSources[source]}</a>
                  ),
              },
              { name: names.when, cell: ({ createdAt }) => <Time at={createdAt} /> },
              {
                name: names.actions,
                isHidden: true,
                cell: ({ phone }) =>
                  mayWrite ? (
                    <Button
                      kind="quiet"
                      icon="trash"
                      label={`${words.unsuppress}: ${phone}`}
                      onPress={() => setRemoved(phone)}
                    />
                  ) : null,
              },
            ]}
          />
          {list.hasMore ? (
            <div class="more">
              <Button onPress={list.more}>{common.loadMore}</Button>
            </div>
          ) : null}
        </Section>
      )}
      {isAdding ? (
        <SuppressDialog enterprise={enterprise} onClose={() => setAdding(false)} onChange={list.reload} />
      ) : null}
      {removed === null ? null : (
        <Confirm
          title={words.unsuppress}
          action={words.unsuppress}
          isDangerous
          run={async () => {
            await client.unsuppress({ phone: removed });
            toast(words.unsuppressed);
            list.reload();
          }}
          onClose={() => setRemoved(null)}
        >
          <p>{words.unsuppressAsk(removed)}</p>
        </Confirm>
      )}
    </Page>
  );
}

function SuppressDialog({ enterprise, onClose, onChange }: { enterprise: string; onClose(): void; onChange(): void }) {
  const [numbers, setNumbers] = useState('');
  const [reason, setReason] = useState('');
  async function add(): Promise<void> {
    const phones = numbers
      .split(/[\n,;]/)
      .map((one) => one.trim())
      .filter((one) => one !== '');
    const { data } = await clientOf(enterprise).suppress({
      body: { phones, reason: reason.trim() === '' ? null : reason },
    });
    toast(words.suppressed(data.added));
    onChange();
    onClose();
  }
  return (
    <Dialog title={words.suppress} onClose={onClose}>
      <Form
        submit={add}
        action={common.add}
        isDisabled={numbers.trim() === ''}
        fields={['phones', 'reason']}
        onCancel={onClose}
      >
        {(faults) => (
          <>
            <Area
              label={words.suppressionNumbers}
              help={words.numberHelp}
              isMono
              value={numbers}
              fault={faults['phones']}
              onInput={setNumbers}
            />
            <Text label={words.suppressionReason} value={reason} fault={faults['reason']} onInput={setReason} />
          </>
        )}
      </Form>
    </Dialog>
  );
}
