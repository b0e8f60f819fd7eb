/** Views: filters under a name, kept on the service for oneself or for everybody; and the address, for colleagues. */
import { useEffect, useState } from 'preact/hooks';
import { may } from '../../api/session.ts';
import { views as kept, type View } from '../../api/views.ts';
import { calls as words } from '../../texts/en/calls.ts';
import { common } from '../../texts/en/common.ts';
import { viewWords } from '../../texts/en/views.ts';
import { to } from '../../ui/address.ts';
import { copyText } from '../../ui/copy.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { remember, remembered } from '../../ui/draft.ts';
import { Check, Text } from '../../ui/field.tsx';
import { Form } from '../../ui/form.tsx';
import { Icon } from '../../ui/icons.tsx';
import { useLoad } from '../../ui/load.ts';
import { Menu } from '../../ui/menu.tsx';
import { toast } from '../../ui/toast.tsx';

/** What people come with before they know the filters. */
const USUAL: readonly [label: string, filters: Record<string, string>][] = [
  [viewWords.usual.broke, { status: 'failed', minDuration: '0' }],
  [viewWords.usual.interrupted, { hasBargeIn: 'true' }],
  [viewWords.usual.slow, { mouthToEarP95Gte: '1500' }],
  [viewWords.usual.unclear, { hasUnclear: 'true' }],
  [viewWords.usual.tool, { toolErrored: 'true' }],
];

/** Views that an earlier console kept in the browser, brought to the service once. */
async function bringLocal(enterprise: string): Promise<boolean> {
  const key = `views.${enterprise}`;
  const local = remembered<Pick<View, 'name' | 'query'>[]>(key, []);
  if (local.length === 0) return false;
  remember(key, []);
  await Promise.allSettled(local.map(({ name, query }) => kept(enterprise).save({ name, query, isShared: false })));
  return true;
}

export function ViewsMenu({ enterprise, query }: { enterprise: string; query: string }) {
  const list = useLoad(async (signal) => (await kept(enterprise).list(signal)).data, [enterprise]);
  const [edited, setEdited] = useState<View | 'new' | null>(null);
  useEffect(() => {
    void bringLocal(enterprise).then((isBrought) => isBrought && list.reload());
  }, [enterprise, list.reload]);
  const all = list.data ?? [];
  const here = all.find((one) => one.query === query);
  const mayChange = here !== undefined && (here.isMine || may('settings:write'));

  async function remove(view: View): Promise<void> {
    await kept(enterprise).remove(view.id);
    list.reload();
    const again = async (): Promise<void> => {
      await kept(enterprise).save(view);
      list.reload();
    };
    toast(viewWords.removed(view.name), ...(view.isMine ? [{ label: common.back, run: () => void again() }] : []));
  }
  return (
    <>
      <Menu
        label={words.views}
        button={
          <>
            <span>{here?.name ?? words.views}</span>
            <Icon name="down" size={14} />
          </>
        }
        items={[
          ...all.map((one) => ({
            label: one.isMine
              ? one.isShared
                ? viewWords.shared(one.name)
                : one.name
              : viewWords.of(one.name, one.madeBy),
            href: to(['w', enterprise, 'calls'], new URLSearchParams(one.query)),
          })),
          ...USUAL.map(([label, filters]) => ({ label, href: to(['w', enterprise, 'calls'], filters) })),
          { label: words.allDays, href: to(['w', enterprise, 'calls']) },
          query === '' || here !== undefined
            ? null
            : { label: words.keepView, icon: 'plus', run: () => setEdited('new') },
          { label: words.share, icon: 'link', run: () => copyText(location.href) },
          mayChange ? { label: viewWords.change, icon: 'settings', run: () => setEdited(here) } : null,
          mayChange ? { label: `${common.remove} “${here.name}”`, icon: 'trash', run: () => remove(here) } : null,
        ]}
      />
      {edited === null ? null : (
        <ViewDialog
          enterprise={enterprise}
          view={edited === 'new' ? null : edited}
          query={query}
          onStored={list.reload}
          onClose={() => setEdited(null)}
        />
      )}
    </>
  );
}

function ViewDialog(props: {
  enterprise: string;
  view: View | null;
  query: string;
  onStored(): void;
  onClose(): void;
}) {
  const { enterprise, view, query, onStored, onClose } = props;
  const [name, setName] = useState(view?.name ?? '');
  const [isShared, setShared] = useState(view?.isShared ?? false);
  async function save(): Promise<void> {
    if (view === null) await kept(enterprise).save({ name, query, isShared });
    else await kept(enterprise).change(view.id, { name, isShared });
    onStored();
    onClose();
  }
  return (
    <Dialog title={view === null ? words.keepView : viewWords.change} onClose={onClose}>
      <Form action={common.save} submit={save} fields={['name']} onCancel={onClose}>
        {(faults) => (
          <>
            <Text
              label={words.viewName}
              help={viewWords.hint}
              isRequired
              value={name}
              fault={faults['name']}
              onInput={setName}
            />
            <Check label={viewWords.share} help={viewWords.shareHint} isOn={isShared} onInput={setShared} />
          </>
        )}
      </Form>
    </Dialog>
  );
}
