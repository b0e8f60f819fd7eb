/** Views: filters under a name, kept in this browser; and the address, for colleagues. */
import { useState } from 'preact/hooks';
import { calls as words } from '../../texts/en/calls.ts';
import { common } from '../../texts/en/common.ts';
import { to } from '../../ui/address.ts';
import { copyText } from '../../ui/copy.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { remember, remembered } from '../../ui/draft.ts';
import { Text } from '../../ui/field.tsx';
import { Form } from '../../ui/form.tsx';
import { Icon } from '../../ui/icons.tsx';
import { Menu } from '../../ui/menu.tsx';
import { toast } from '../../ui/toast.tsx';

interface View {
  name: string;
  query: string;
}

export function ViewsMenu({ enterprise, query }: { enterprise: string; query: string }) {
  const key = `views.${enterprise}`;
  const [views, setViews] = useState<View[]>(() => remembered(key, []));
  const [name, setName] = useState<string | null>(null);
  function keep(next: View[]): void {
    setViews(next);
    remember(key, next);
  }
  const here = views.find((one) => one.query === query);
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
          ...views.map((one) => ({
            label: one.name,
            href: to(['w', enterprise, 'calls'], new URLSearchParams(one.query)),
          })),
          { label: words.allDays, icon: 'calls', href: to(['w', enterprise, 'calls']) },
          query === '' || here !== undefined ? null : { label: words.keepView, icon: 'plus', run: () => setName('') },
          { label: words.share, icon: 'link', run: () => copyText(location.href) },
          here === undefined
            ? null
            : {
                label: `${common.remove} “${here.name}”`,
                icon: 'trash',
                run() {
                  keep(views.filter((one) => one !== here));
                  toast(`${common.remove}: ${here.name}`, { label: common.back, run: () => keep(views) });
                },
              },
        ]}
      />
      {name === null ? null : (
        <Dialog title={words.keepView} onClose={() => setName(null)}>
          <Form
            action={common.save}
            submit={async () => {
              keep([...views.filter((one) => one.name !== name), { name, query }]);
              setName(null);
            }}
            onCancel={() => setName(null)}
          >
            {() => <Text label={words.viewName} help={words.keepViewHint} isRequired value={name} onInput={setName} />}
          </Form>
        </Dialog>
      )}
    </>
  );
}
