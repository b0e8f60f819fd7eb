/** What is done seldom with a call: a file for a bug report, deleting parts of it. */
import { useState } from 'preact/hooks';
import type { Call } from '../../../clients/typescript/src/client.ts';
import { clientOf } from '../../api/request.ts';
import { may } from '../../api/session.ts';
import { call as words } from '../../texts/en/call.ts';
import { common } from '../../texts/en/common.ts';
import { to } from '../../ui/address.ts';
import { copyText } from '../../ui/copy.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Choices } from '../../ui/field.tsx';
import { Form } from '../../ui/form.tsx';
import { Icon } from '../../ui/icons.tsx';
import { Menu } from '../../ui/menu.tsx';
import { saveFile } from '../../ui/save-file.ts';
import { toast } from '../../ui/toast.tsx';

export function MoreMenu(props: { enterprise: string; call: Call; isOver: boolean; onDeleted(): void }) {
  const { enterprise, call, isOver, onDeleted } = props;
  const { callUuid } = call;
  const [isDeleting, setDeleting] = useState(false);
  const client = clientOf(enterprise);

  /** Nothing in it opens anything: signed addresses are left out. */
  async function bundle(): Promise<void> {
    const [events, deliveries] = await Promise.all([
      client.readCallEvents({ callUuid }),
      client.listWebhookDeliveries({ callUuid, limit: 100 }),
    ]);
    const { url: _url, urlExpiresAt: _expires, parts, ...recording } = call.recording;
    const text = JSON.stringify(
      {
        madeAt: new Date().toISOString(),
        browser: navigator.userAgent,
        call: {
          ...call,
          recording: {
            ...recording,
            parts: parts.map(({ startSeconds, durationSeconds }) => ({ startSeconds, durationSeconds })),
          },
        },
        events: events.data.data,
        deliveries: deliveries.data.data,
      },
      null,
      2,
    );
    saveFile(`call-${callUuid}.json`, [text], 'application/json');
  }
  return (
    <>
      <Menu
        label={words.more}
        class="bare"
        button={<Icon name="more" />}
        items={[
          { label: words.bundle, icon: 'download', run: bundle },
          { label: words.copyId, icon: 'copy', run: () => copyText(callUuid) },
          may('settings:write')
            ? {
                label: words.hold,
                icon: 'lock',
                href: to(['w', enterprise, 'settings', 'retention'], { hold: callUuid }),
              }
            : null,
          isOver && (may('calls:delete') || may('calls:write'))
            ? { label: words.deleteTitle, icon: 'trash', isDangerous: true, run: () => setDeleting(true) }
            : null,
        ]}
      />
      {isDeleting ? (
        <DeleteDialog
          run={async (kinds) => {
            await client.deleteCall({ callUuid, kind: kinds.join(',') });
            toast(words.deleted);
            onDeleted();
          }}
          onClose={() => setDeleting(false)}
        />
      ) : null}
    </>
  );
}

function DeleteDialog({ run, onClose }: { run(kinds: string[]): Promise<void>; onClose(): void }) {
  const [kinds, setKinds] = useState<string[]>([]);
  return (
    <Dialog title={words.deleteTitle} onClose={onClose}>
      <Form
        action={words.deleteAction}
        isDangerous
        isDisabled={kinds.length === 0}
        submit={async () => {
          await run(kinds);
          onClose();
        }}
        onCancel={onClose}
      >
        {() => (
          <>
            <p class="soft">{words.deleteHint}</p>
            <Choices
              legend={common.delete}
              options={Object.entries(words.deleteKinds).map(([value, label]) => ({ value, label }))}
              chosen={kinds}
              onInput={setKinds}
            />
          </>
        )}
      </Form>
    </Dialog>
  );
}
