/** What is shown, as a file: written by the service, with its progress here and in the list of one's exports. */
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Agent, CallExport } from '../../../clients/typescript/src/client.ts';
import { clientOf } from '../../api/request.ts';
import { calls as words } from '../../texts/en/calls.ts';
import { exportWords } from '../../texts/en/exports.ts';
import { Icon } from '../../ui/icons.tsx';
import { useEvery, useLoad } from '../../ui/load.ts';
import { Menu } from '../../ui/menu.tsx';
import { toast } from '../../ui/toast.tsx';
import { ExportsDialog } from './exports-dialog.tsx';

const REFRESH_MS = 1_000;
const isAtWork = ({ state }: CallExport): boolean => state === 'queued' || state === 'running';

export function ExportMenu(props: { enterprise: string; filters: Record<string, string>; agents: readonly Agent[] }) {
  const { enterprise, filters, agents } = props;
  const client = clientOf(enterprise);
  const [isOpen, setOpen] = useState(false);
  const list = useLoad(async (signal) => (await client.listCallExports({}, { signal })).data.data, [enterprise]);
  const all = list.data ?? [];
  const working = all.filter(isAtWork);
  useEvery(REFRESH_MS, list.reload, working.length > 0);

  // Of those that were asked for, or seen at work, here: told when they are ready.
  const seen = useRef(new Set<string>());
  useEffect(() => {
    for (const one of all) {
      if (isAtWork(one)) seen.current.add(one.id);
      else if (seen.current.delete(one.id) && one.state === 'completed') {
        toast(exportWords.ready(exportWords.formats[one.format]), {
          label: exportWords.title,
          run: () => setOpen(true),
        });
      }
    }
  }, [all]);

  async function run(format: 'csv' | 'ndjson'): Promise<void> {
    const asked = await client.exportCalls({ ...filters, body: { format } });
    // It may be ready before the list is read for the first time.
    seen.current.add(asked.data.export.id);
    toast(exportWords.asked);
    list.reload();
  }
  const [first] = working;
  return (
    <>
      {first === undefined ? null : (
        <span class="soft tiny" role="status">
          {exportWords.states[first.state]}: {exportWords.rows(first.writtenRows, first.totalRows)}
        </span>
      )}
      <Menu
        label={words.export}
        button={
          <>
            <Icon name="download" />
            <span>{words.export}</span>
          </>
        }
        items={[
          { label: words.exportCsv, run: () => run('csv') },
          { label: words.exportNdjson, run: () => run('ndjson') },
          { label: exportWords.all, run: () => setOpen(true) },
        ]}
      />
      {isOpen ? (
        <ExportsDialog enterprise={enterprise} list={list} agents={agents} onClose={() => setOpen(false)} />
      ) : null}
    </>
  );
}
