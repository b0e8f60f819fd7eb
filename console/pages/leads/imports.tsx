/** Files that were imported: how far they are, what was wrong in them, calling one off. */
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { LeadImport } from '../../../clients/typescript/src/client.ts';
import { clientOf } from '../../api/request.ts';
import { may } from '../../api/session.ts';
import { leads as words } from '../../texts/en/leads.ts';
import { address, replaceAddress, to } from '../../ui/address.ts';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { useEvery, useLoad } from '../../ui/load.ts';
import { Page, Section } from '../../ui/page.tsx';
import { saveFile } from '../../ui/save-file.ts';
import { Empty, Shown } from '../../ui/states.tsx';
import { Table } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { csvText } from './csv-file.ts';
import { ImportDialog } from './import-dialog.tsx';

const REFRESH_MS = 1_500;
const ERROR_PAGE = 200;
const MOST_SENT = 4;
/** Files that were sent from this page, by their import: the service keeps nothing of a row that it refused. */
const sentHere = new Map<string, string>();
const TONES = { queued: 'quiet', running: 'busy', completed: 'good', failed: 'bad', canceled: 'quiet' } as const;

export function Imports({ enterprise, tabs }: { enterprise: string; tabs: ComponentChildren }) {
  const client = clientOf(enterprise);
  const [isOpen, setOpen] = useState(address.peek().query.has('new'));
  const imports = useLoad(
    async (signal) => (await client.listLeadImports({ limit: 50 }, { signal })).data.data,
    [enterprise],
  );
  useEvery(
    REFRESH_MS,
    imports.reload,
    imports.data?.some(({ state }) => state === 'queued' || state === 'running') ?? false,
  );
  const mayWrite = may('leads:write');

  async function saveErrors(one: LeadImport): Promise<void> {
    const own = (sentHere.get(one.id) ?? '').split(/\r\n|\n|\r/);
    const lines = ['line,field,code,message,text\r\n'];
    for (let cursor: string | null = ''; cursor !== null; ) {
      const { data } = await client.listLeadImportErrors({
        importId: one.id,
        limit: ERROR_PAGE,
        ...(cursor === '' ? {} : { cursor }),
      });
      for (const { line, field, code, message } of data.data) {
        const text = csvText(own[line - 1] ?? '');
        lines.push(`${line},${csvText(field ?? '')},${code},${csvText(message)},${text}\r\n`);
      }
      cursor = data.nextCursor;
    }
    saveFile(`import-${one.id}-errors.csv`, lines, 'text/csv');
  }
  const { importColumns: names } = words;
  return (
    <Page
      title={words.imports}
      isWide
      actions={
        mayWrite ? (
          <Button kind="main" icon="upload" onPress={() => setOpen(true)}>
            {words.import}
          </Button>
        ) : null
      }
    >
      {tabs}
      <Shown of={imports}>
        {(all) =>
          all.length === 0 ? (
            <Empty icon="upload" title={words.importsEmpty} />
          ) : (
            <Section title={words.imports} isFlush>
              <Table
                label={words.imports}
                rows={all}
                keyOf={({ id }) => id}
                columns={[
                  { name: names.when, cell: ({ createdAt }) => <Time at={createdAt} /> },
                  {
                    name: names.state,
                    cell: ({ state, error }) => (
                      <>
                        <Badge tone={TONES[state]}>{words.importStates[state]}</Badge>{' '}
                        {error === null ? null : <span class="fault">{error}</span>}
                      </>
                    ),
                  },
                  {
                    name: names.progress,
                    cell: ({ processedRows, totalRows, state }) => (
                      <>
                        <span class="number">
                          {processedRows} / {totalRows}
                        </span>
                        {state === 'running' ? (
                          <progress value={processedRows} max={Math.max(1, totalRows)} aria-label={names.progress} />
                        ) : null}
                      </>
                    ),
                  },
                  { name: names.created, isNumber: true, cell: ({ createdCount }) => createdCount },
                  { name: names.updated, isNumber: true, cell: ({ updatedCount }) => updatedCount },
                  { name: names.failed, isNumber: true, cell: ({ failedCount }) => failedCount },
                  {
                    name: names.actions,
                    isHidden: true,
                    cell: (one) =>
                      one.state === 'running' || one.state === 'queued' ? (
                        mayWrite ? (
                          <Button
                            kind="quiet"
                            onPress={async () => {
                              await client.cancelLeadImport({ importId: one.id });
                              imports.reload();
                            }}
                          >
                            {words.importCancel}
                          </Button>
                        ) : null
                      ) : one.failedCount > 0 ? (
                        <Button
                          kind="quiet"
                          icon="download"
                          title={`${words.importErrors(one.failedCount)}. ${words.saveErrorsHint}`}
                          onPress={() => saveErrors(one)}
                        >
                          {words.saveErrors}
                        </Button>
                      ) : null,
                  },
                ]}
              />
            </Section>
          )
        }
      </Shown>
      {isOpen ? (
        <ImportDialog
          enterprise={enterprise}
          onStarted={(importId, body) => {
            sentHere.set(importId, body);
            for (const old of [...sentHere.keys()].slice(0, -MOST_SENT)) sentHere.delete(old);
            imports.reload();
          }}
          onClose={() => {
            setOpen(false);
            replaceAddress(to(['w', enterprise, 'leads', 'imports']));
          }}
        />
      ) : null}
    </Page>
  );
}
