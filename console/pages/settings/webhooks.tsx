/** The receiver of webhooks, and what was sent to it. */
import { useState } from 'preact/hooks';
import type { WebhookEndpoint } from '../../../clients/typescript/src/client.ts';
import { ParleyError } from '../../../clients/typescript/src/parley-error.ts';
import { clientOf } from '../../api/request.ts';
import { may } from '../../api/session.ts';
import { settledDelivery } from '../../api/settled-delivery.ts';
import { common } from '../../texts/en/common.ts';
import { settings, webhooksWords as words } from '../../texts/en/settings.ts';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { CopyBox } from '../../ui/copy.tsx';
import { tellOutcome } from '../../ui/delivery-state.tsx';
import { Confirm, Dialog } from '../../ui/dialog.tsx';
import { Check, Choices, Text } from '../../ui/field.tsx';
import { Form } from '../../ui/form.tsx';
import { useEvery, useLoad } from '../../ui/load.ts';
import { Notice } from '../../ui/notice.tsx';
import { Facts, Section } from '../../ui/page.tsx';
import { Empty, Shown } from '../../ui/states.tsx';
import { Words } from '../../ui/text.tsx';
import { Time } from '../../ui/time.tsx';
import { toast } from '../../ui/toast.tsx';
import { Deliveries } from './deliveries.tsx';

const REFRESH_MS = 6_000;
const OPT_IN = ['call.ringing', 'call.answered', 'tool.failed', 'lead.updated', 'workspace.limit_reached'] as const;

export function Webhooks({ enterprise }: { enterprise: string }) {
  const client = clientOf(enterprise);
  const webhook = useLoad<WebhookEndpoint | null>(
    async (signal) => {
      try {
        return (await client.readWebhook({}, { signal })).data;
      } catch (error) {
        if (error instanceof ParleyError && error.code === 'webhook_not_set') return null;
        throw error;
      }
    },
    [enterprise],
  );
  // A receiver comes back, or fails again, by itself.
  useEvery(REFRESH_MS, webhook.reload, webhook.data != null);
  const [open, setOpen] = useState<'set' | 'remove' | 'rotate' | null>(null);
  const [secret, setSecret] = useState<string | null>(null);
  const mayWrite = may('settings:write');
  const close = (): void => setOpen(null);
  return (
    <>
      <Section
        title={words.title}
        about={words.about}
        actions={
          mayWrite && webhook.data !== undefined ? (
            <Button kind={webhook.data === null ? 'main' : 'plain'} onPress={() => setOpen('set')}>
              {webhook.data === null ? words.set : words.change}
            </Button>
          ) : null
        }
      >
        <Shown of={webhook}>
          {(data) =>
            data === null ? (
              <Empty icon="send" title={words.none}>
                {words.noneHint}
              </Empty>
            ) : (
              <Endpoint
                enterprise={enterprise}
                webhook={data}
                mayWrite={mayWrite}
                onChange={webhook.reload}
                onOpen={setOpen}
              />
            )
          }
        </Shown>
      </Section>
      {webhook.data == null ? null : (
        <Deliveries
          enterprise={enterprise}
          isPaused={!webhook.data.enabled || webhook.data.breaker.state !== 'closed'}
        />
      )}
      {open === 'set' ? (
        <ReceiverDialog
          enterprise={enterprise}
          url={webhook.data?.url ?? ''}
          onClose={close}
          onDone={(made) => {
            close();
            setSecret(made);
            webhook.reload();
          }}
        />
      ) : null}
      {open === 'remove' ? (
        <Confirm
          title={words.remove}
          action={words.remove}
          isDangerous
          run={async () => {
            await client.removeWebhook({});
            webhook.reload();
          }}
          onClose={close}
        >
          <p>{words.removeAsk}</p>
        </Confirm>
      ) : null}
      {open === 'rotate' ? (
        <Confirm
          title={words.rotate}
          action={words.rotate}
          run={async () => {
            const { data } = await client.rotateWebhookSecret({});
            setTimeout(() => setSecret(data.secret));
            webhook.reload();
          }}
          onClose={close}
        >
          <p>{words.newSecret}</p>
        </Confirm>
      ) : null}
      {secret === null ? null : (
        <Dialog title={words.secret} onClose={() => setSecret(null)}>
          <div class="stack">
            <Notice kind="warn">{settings.onceOnly}</Notice>
            <CopyBox text={secret} label={common.copy} />
          </div>
        </Dialog>
      )}
    </>
  );
}

interface EndpointProps {
  enterprise: string;
  webhook: WebhookEndpoint;
  mayWrite: boolean;
  onChange(): void;
  onOpen(what: 'remove' | 'rotate'): void;
}

function Endpoint({ enterprise, webhook, mayWrite, onChange, onOpen }: EndpointProps) {
  const client = clientOf(enterprise);
  const [events, setEvents] = useState<string[]>(webhook.events);
  const isChanged = [...events].toSorted().join() !== [...webhook.events].toSorted().join();
  async function test(): Promise<void> {
    const { data } = await client.testWebhook({});
    tellOutcome(await settledDelivery(enterprise, data.delivery));
    onChange();
  }
  /** Switching on what is on closes its breaker. */
  async function tryNow(): Promise<void> {
    await client.enableWebhook({});
    onChange();
  }
  async function change(body: { enabled?: boolean; events?: WebhookEndpoint['events'] }): Promise<void> {
    await client.changeWebhook({ body });
    toast(common.saved);
    onChange();
  }
  return (
    <div class="stack">
      {webhook.notice === null ? null : <Notice kind="warn">{webhook.notice}</Notice>}
      <Facts
        facts={[
          [words.url, <Words key="url">{webhook.url}</Words>],
          [
            words.enabled,
            <Badge key="state" tone={!webhook.enabled ? 'quiet' : webhook.breaker.state === 'closed' ? 'good' : 'warn'}>
              {webhook.enabled ? words.breaker[webhook.breaker.state] : words.disabled}
            </Badge>,
          ],
          [words.waiting, webhook.waiting],
          [words.lastSuccess, <Time key="success" at={webhook.lastSuccessAt} />],
          ...(webhook.failingSince === null
            ? []
            : [[words.failingSince, <Time key="failing" at={webhook.failingSince} />] as const]),
        ]}
      />
      {mayWrite ? (
        <>
          <Choices
            legend={words.events}
            options={OPT_IN.map((value) => ({ value, label: value }))}
            chosen={events}
            onInput={setEvents}
          />
          <p class="soft tiny">{words.eventsHelp}</p>
          <div class="actions">
            {isChanged ? (
              <Button kind="main" onPress={() => change({ events: events as WebhookEndpoint['events'] })}>
                {common.save}
              </Button>
            ) : null}
            <Button icon="send" onPress={test}>
              {words.test}
            </Button>
            {webhook.enabled && webhook.breaker.state !== 'closed' ? (
              <Button icon="refresh" onPress={tryNow}>
                {words.tryNow}
              </Button>
            ) : null}
            <Button onPress={() => change({ enabled: !webhook.enabled })}>
              {webhook.enabled ? words.disable : words.enable}
            </Button>
            <Button onPress={() => onOpen('rotate')}>{words.rotate}</Button>
            <Button kind="danger" onPress={() => onOpen('remove')}>
              {words.remove}
            </Button>
          </div>
        </>
      ) : null}
    </div>
  );
}

function ReceiverDialog(props: {
  enterprise: string;
  url: string;
  onClose(): void;
  onDone(secret: string | null): void;
}) {
  const { enterprise, onClose, onDone } = props;
  const [url, setUrl] = useState(props.url);
  const [isNew, setNew] = useState(false);
  async function save(): Promise<void> {
    const { data } = await clientOf(enterprise).setWebhook({ body: { url, ...(isNew ? { newSecret: true } : {}) } });
    onDone(data.secret);
  }
  return (
    <Dialog title={words.set} onClose={onClose}>
      <Form submit={save} action={common.save} fields={['url']} onCancel={onClose}>
        {(faults) => (
          <>
            <Text
              label={words.url}
              type="url"
              help={words.urlHelp}
              placeholder="https://"
              isRequired
              value={url}
              fault={faults['url']}
              onInput={setUrl}
            />
            {props.url === '' ? null : <Check label={words.newSecret} isOn={isNew} onInput={setNew} />}
          </>
        )}
      </Form>
    </Dialog>
  );
}
