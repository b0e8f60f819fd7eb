/** Keys for websites, the snippet that a page takes, and what web sessions may. */
import { useState } from 'preact/hooks';
import type { WebSettings, WidgetKey } from '../../../clients/typescript/src/client.ts';
import { clientOf } from '../../api/request.ts';
import { may } from '../../api/session.ts';
import { common } from '../../texts/en/common.ts';
import { widgetWords as words } from '../../texts/en/settings.ts';
import { lookWords } from '../../texts/en/widget-look.ts';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { CopyBox } from '../../ui/copy.tsx';
import { Confirm, Dialog } from '../../ui/dialog.tsx';
import { Area, Check, Select, Text } from '../../ui/field.tsx';
import { Form } from '../../ui/form.tsx';
import { Icon } from '../../ui/icons.tsx';
import { isHere } from '../../ui/link-here.ts';
import { listOf } from '../../ui/list-of.ts';
import { useLoad } from '../../ui/load.ts';
import { Menu } from '../../ui/menu.tsx';
import { Notice } from '../../ui/notice.tsx';
import { Section } from '../../ui/page.tsx';
import { Empty, Shown } from '../../ui/states.tsx';
import { Table } from '../../ui/table.tsx';
import { useSetting } from '../../ui/tagged.tsx';
import { Words } from '../../ui/text.tsx';
import { toast } from '../../ui/toast.tsx';
import { LookDialog } from './widget-look.tsx';

type Open = { kind: 'edit'; key: WidgetKey | null } | { kind: 'look' | 'snippet' | 'revoke'; key: WidgetKey };

export function Widget({ enterprise }: { enterprise: string }) {
  const client = clientOf(enterprise);
  const keys = useLoad(async (signal) => (await client.listWidgetKeys({}, { signal })).data.data, [enterprise]);
  const [open, setOpen] = useState<Open | null>(null);
  const close = (): void => setOpen(null);
  const mayWrite = may('settings:write');
  const { columns: names } = words;
  async function toggle(key: WidgetKey): Promise<void> {
    await client.changeWidgetKey({ publicKey: key.publicKey, body: { enabled: !key.enabled } });
    keys.reload();
  }
  return (
    <>
      <Section
        title={words.title}
        about={words.about}
        isFlush
        actions={
          mayWrite ? (
            <Button kind="main" icon="plus" onPress={() => setOpen({ kind: 'edit', key: null })}>
              {words.create}
            </Button>
          ) : null
        }
      >
        <Shown of={keys}>
          {(all) =>
            all.length === 0 ? (
              <Empty icon="web" title={words.empty}>
                {words.emptyHint}
              </Empty>
            ) : (
              <Table
                label={words.title}
                rows={all}
                keyOf={({ publicKey }) => publicKey}
                columns={[
                  { name: names.name, cell: ({ name }) => <Words>{name}</Words> },
                  { name: names.key, cell: ({ publicKey }) => <code>{publicKey}</code> },
                  {
                    name: names.origins,
                    cell: ({ allowedOrigins }) => <span class="soft">{allowedOrigins.join(', ')}</span>,
                  },
                  {
                    name: names.state,
                    cell: ({ enabled, revokedAt }) => (
                      <Badge tone={enabled && revokedAt === null ? 'good' : 'quiet'}>
                        {revokedAt !== null ? words.revoked : enabled ? words.on : words.off}
                      </Badge>
                    ),
                  },
                  {
                    name: names.actions,
                    isHidden: true,
                    cell: (key) =>
                      key.revokedAt === null ? (
                        <>
                          <Button kind="quiet" onPress={() => setOpen({ kind: 'snippet', key })}>
                            {words.snippet}
                          </Button>
                          {mayWrite ? (
                            <Menu
                              label={`${names.actions}: ${key.name}`}
                              class="quiet bare"
                              button={<Icon name="more" />}
                              items={[
                                { label: lookWords.menu, run: () => setOpen({ kind: 'look', key }) },
                                { label: common.edit, run: () => setOpen({ kind: 'edit', key }) },
                                { label: key.enabled ? words.disable : words.enable, run: () => toggle(key) },
                                { label: words.revoke, isDangerous: true, run: () => setOpen({ kind: 'revoke', key }) },
                              ]}
                            />
                          ) : null}
                        </>
                      ) : null,
                  },
                ]}
              />
            )
          }
        </Shown>
      </Section>
      <Sessions enterprise={enterprise} mayWrite={mayWrite} />
      {open?.kind === 'edit' ? (
        <KeyDialog enterprise={enterprise} widgetKey={open.key} onClose={close} onChange={keys.reload} />
      ) : null}
      {open?.kind === 'look' ? <LookDialog enterprise={enterprise} widgetKey={open.key} onClose={close} /> : null}
      {open?.kind === 'snippet' ? <SnippetDialog enterprise={enterprise} widgetKey={open.key} onClose={close} /> : null}
      {open?.kind === 'revoke' ? (
        <Confirm
          title={words.revoke}
          action={words.revoke}
          isDangerous
          run={async () => {
            await client.revokeWidgetKey({ publicKey: open.key.publicKey });
            keys.reload();
          }}
          onClose={close}
        >
          <p>{words.revokeAsk}</p>
        </Confirm>
      ) : null}
    </>
  );
}

interface DialogProps {
  enterprise: string;
  onClose(): void;
}

function KeyDialog({
  enterprise,
  widgetKey,
  onClose,
  onChange,
}: DialogProps & { widgetKey: WidgetKey | null; onChange(): void }) {
  const client = clientOf(enterprise);
  const [name, setName] = useState(widgetKey?.name ?? '');
  const [origins, setOrigins] = useState(widgetKey?.allowedOrigins.join('\n') ?? '');
  async function save(): Promise<void> {
    const body = { name, allowedOrigins: listOf(origins) };
    if (widgetKey === null) await client.createWidgetKey({ body });
    else await client.changeWidgetKey({ publicKey: widgetKey.publicKey, body });
    toast(words.stored);
    onChange();
    onClose();
  }
  return (
    <Dialog title={widgetKey === null ? words.create : common.edit} onClose={onClose}>
      <Form submit={save} action={common.save} fields={['name', 'allowedOrigins']} onCancel={onClose}>
        {(faults) => (
          <>
            <Text label={words.name} isRequired value={name} fault={faults['name']} onInput={setName} />
            <Area
              label={words.origins}
              help={words.originsHelp}
              isMono
              rows={3}
              value={origins}
              fault={faults['allowedOrigins']}
              onInput={setOrigins}
            />
          </>
        )}
      </Form>
    </Dialog>
  );
}

function SnippetDialog({ enterprise, widgetKey, onClose }: DialogProps & { widgetKey: WidgetKey }) {
  const agents = useLoad(
    async (signal) => {
      const { data } = await clientOf(enterprise).listAgents({}, { signal });
      return data.data.filter(({ direction }) => direction === 'web' || direction === 'any');
    },
    [enterprise],
  );
  const [chosen, setChosen] = useState<string | null>(null);
  return (
    <Dialog title={words.snippet} isWide onClose={onClose}>
      <Shown of={agents}>
        {(all) => {
          if (all.length === 0) return <Empty title={words.noAgent} />;
          // Of several none is proposed: a website would speak with the wrong one.
          const agentId = chosen ?? (all.length === 1 ? all[0]!.id : '');
          const snippet = `<script async src="${location.origin}/embed.js"\n  data-public-key="${widgetKey.publicKey}"\n  data-agent-id="${agentId}"\n  data-panel="auto"></script>`;
          return (
            <div class="stack">
              <p class="soft">{words.snippetAbout}</p>
              <Select
                label={words.agent}
                value={agentId}
                options={[
                  ...(agentId === '' ? [{ value: '', label: words.chooseAgent }] : []),
                  ...all.map(({ id, name }) => ({ value: id, label: name })),
                ]}
                onInput={setChosen}
              />
              {agentId === '' ? null : (
                <>
                  <CopyBox text={snippet} label={common.copy} />
                  {isHere(location.hostname) ? <Notice kind="warn">{words.snippetHere(location.host)}</Notice> : null}
                  <p class="soft tiny">{lookWords.snippetPanel}</p>
                  <p>
                    <a href={`/talk/${widgetKey.publicKey}/${agentId}`} target="_blank" rel="noreferrer">
                      {words.preview}
                    </a>
                  </p>
                </>
              )}
            </div>
          );
        }}
      </Shown>
    </Dialog>
  );
}

function Sessions({ enterprise, mayWrite }: { enterprise: string; mayWrite: boolean }) {
  const client = clientOf(enterprise);
  const setting = useSetting<WebSettings>((signal) => client.readWebSettings({}, { signal }), [enterprise]);
  return (
    <Section title={words.session}>
      <Shown of={setting} lines={2}>
        {({ data }) => (
          <SessionForm
            key={JSON.stringify(data)}
            known={data}
            isDisabled={!mayWrite}
            save={(body) => setting.save((headers) => client.changeWebSettings({ body }, { headers }), body)}
          />
        )}
      </Shown>
      {setting.conflict}
    </Section>
  );
}

function SessionForm({
  known,
  isDisabled,
  save,
}: {
  known: WebSettings;
  isDisabled: boolean;
  save(body: WebSettings): Promise<void>;
}) {
  const [seconds, setSeconds] = useState(String(known.sessionSeconds));
  const [webhooks, setWebhooks] = useState(known.webhooks);
  return (
    <Form
      submit={async () => {
        await save({ sessionSeconds: Number(seconds), webhooks });
        toast(words.stored);
      }}
      action={common.save}
      isDisabled={isDisabled}
      fields={['sessionSeconds']}
    >
      {(faults) => (
        <>
          <Text
            label={words.sessionSeconds}
            type="number"
            min={1}
            value={seconds}
            fault={faults['sessionSeconds']}
            onInput={setSeconds}
          />
          <Check label={words.webhooks} isOn={webhooks} onInput={setWebhooks} />
        </>
      )}
    </Form>
  );
}
