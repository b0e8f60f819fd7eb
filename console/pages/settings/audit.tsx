/**
 * What was done by whom. That the rows which are shown follow from one another is checked here, in the reader's
 * browser.
 */
import { useState } from 'preact/hooks';
import type { AuditRow, AuditVerification } from '../../../clients/typescript/src/client.ts';
import { clientOf } from '../../api/request.ts';
import { actionWords, auditActions } from '../../texts/en/audit.ts';
import { common } from '../../texts/en/common.ts';
import { auditWords as words } from '../../texts/en/settings.ts';
import { Button } from '../../ui/button.tsx';
import { useCursorList } from '../../ui/cursor-list.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { Notice } from '../../ui/notice.tsx';
import { Section } from '../../ui/page.tsx';
import { Empty, Failure, Loading } from '../../ui/states.tsx';
import { Table } from '../../ui/table.tsx';
import { Json, Words } from '../../ui/text.tsx';
import { Time } from '../../ui/time.tsx';
import { AuditTarget, useTargetNames } from './audit-target.tsx';

const PAGE = 100;
/** A person's name, where the service knows it. */
type Row = AuditRow & { actorName?: string | null };

export function Audit({ enterprise }: { enterprise: string }) {
  const client = clientOf(enterprise);
  const [action, setAction] = useState('');
  const [opened, setOpened] = useState<Row | null>(null);
  const list = useCursorList<Row>(
    [enterprise, action],
    async (cursor, signal) => {
      const asked = { limit: PAGE, ...(action === '' ? {} : { action }), ...(cursor === null ? {} : { cursor }) };
      return (await client.listAudit(asked, { signal })).data;
    },
    ({ position }) => String(position),
  );
  const broken = action === '' ? firstBroken(list.rows) : null;
  const [report, setReport] = useState<AuditVerification | null>(null);
  async function verify(): Promise<void> {
    setReport(null);
    setReport((await client.verifyAudit()).data);
  }
  const { columns } = words;
  const found = useTargetNames(enterprise);
  const people = list.rows.flatMap(({ actor, actorName }) => (actorName == null ? [] : [[actor, actorName] as const]));
  const names = new Map([...found, ...people]);
  return (
    <Section
      title={words.title}
      about={words.about}
      isFlush
      actions={
        <>
          <Button icon="check" onPress={verify}>
            {words.verify}
          </Button>
          <select
            class="short"
            aria-label={words.action}
            value={action}
            onChange={(event) => setAction(event.currentTarget.value)}
          >
            <option value="">{words.everything}</option>
            {Object.entries(auditActions).map(([kind, actions]) => (
              <optgroup key={kind} label={kind}>
                {Object.entries(actions).map(([value, label]) => (
                  <option key={value} value={value}>
                    {label}
                  </option>
                ))}
              </optgroup>
            ))}
          </select>
        </>
      }
    >
      {report === null ? null : (
        <div class="pad" role="status">
          <Verification report={report} />
        </div>
      )}
      {list.error !== undefined && list.rows.length === 0 ? (
        <Failure error={list.error} onRetry={list.reload} />
      ) : list.isLoading && list.rows.length === 0 ? (
        <Loading lines={8} />
      ) : list.rows.length === 0 ? (
        <Empty title={action === '' ? words.empty : words.noMatch} />
      ) : (
        <>
          {action === '' && report === null ? (
            <div class="pad">
              {broken === null ? (
                <Notice kind="good">{words.verified(list.rows.length)}</Notice>
              ) : (
                <Notice kind="error">{words.broken(broken)}</Notice>
              )}
            </div>
          ) : null}
          <Table
            label={words.title}
            rows={list.rows}
            keyOf={({ position }) => String(position)}
            columns={[
              { name: columns.when, cell: ({ at }) => <Time at={at} isExact /> },
              { name: columns.who, isShort: true, cell: ({ actor, actorName }) => <Words>{actorName ?? actor}</Words> },
              {
                name: columns.what,
                cell: (row) => (
                  <button type="button" class="inline" onClick={() => setOpened(row)}>
                    {actionWords(row.action)}
                  </button>
                ),
              },
              {
                name: columns.target,
                cell: ({ target }) => <AuditTarget enterprise={enterprise} target={target} names={names} />,
              },
              { name: columns.from, isShort: true, cell: ({ ip }) => <span class="soft">{ip ?? '–'}</span> },
            ]}
          />
          {list.hasMore ? (
            <div class="more">
              <Button onPress={list.more}>{common.loadMore}</Button>
            </div>
          ) : null}
        </>
      )}
      {opened === null ? null : (
        <Dialog title={actionWords(opened.action)} isWide onClose={() => setOpened(null)}>
          <div class="stack">
            <p class="soft">
              <Time at={opened.at} isExact /> · <Words>{whoOf(opened)}</Words> ·{' '}
              <AuditTarget enterprise={enterprise} target={opened.target} names={names} />
            </p>
            <h3>{words.before}</h3>
            <Json value={opened.before} />
            <h3>{words.after}</h3>
            <Json value={opened.after} />
            <p class="tiny soft break">
              <code>{opened.action}</code> <Words>{opened.target}</Words>
            </p>
            <p class="tiny soft">
              <code>{opened.hash}</code>
            </p>
          </div>
        </Dialog>
      )}
    </Section>
  );
}

/** People call themselves what they like, the same as others too: the id tells. */
const whoOf = ({ actor, actorName }: Row): string => (actorName == null ? actor : `${actorName} (${actor})`);

function Verification({ report }: { report: AuditVerification }) {
  const { ok, rows, seals, ms, end, faults, moreFaults } = report;
  if (ok) {
    return (
      <Notice kind="good">
        <p>{words.whole(rows, seals, ms)}</p>
        <p class="tiny break">{words.end(end.position, end.hash)}</p>
      </Notice>
    );
  }
  return (
    <Notice kind="error">
      <strong>{words.faults(faults.length, moreFaults)}</strong>
      <ul>
        {faults.map(({ position, toPosition, kind }) => (
          <li key={`${position} ${kind}`}>
            {words.row(position, toPosition)} {words.faultKinds[kind] ?? kind}
          </li>
        ))}
      </ul>
    </Notice>
  );
}

/** Newest first: each row names the hash of the one below it. */
function firstBroken(rows: readonly Row[]): number | null {
  for (const [at, row] of rows.entries()) {
    const before = rows[at + 1];
    if (before !== undefined && (row.prevHash !== before.hash || row.position !== before.position + 1))
      return row.position;
  }
  return null;
}
