/** One's exports of the last day: how far each is, its file, deleting it. */
import type { Agent, CallExport } from '../../../clients/typescript/src/client.ts';
import { clientOf, consolePath } from '../../api/request.ts';
import { exportWords as words } from '../../texts/en/exports.ts';
import { bytesWords } from '../../ui/amount.ts';
import { Badge, type Tone } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Icon } from '../../ui/icons.tsx';
import type { Loaded } from '../../ui/load.ts';
import { Empty, Shown } from '../../ui/states.tsx';
import { Words } from '../../ui/text.tsx';
import { Time } from '../../ui/time.tsx';
import { toast } from '../../ui/toast.tsx';
import { readsAs } from './filters.ts';

const TONES: Record<CallExport['state'], Tone> = {
  queued: 'quiet',
  running: 'busy',
  completed: 'good',
  failed: 'bad',
};

export function ExportsDialog(props: {
  enterprise: string;
  list: Loaded<CallExport[]>;
  agents: readonly Agent[];
  onClose(): void;
}) {
  const { enterprise, list, agents, onClose } = props;
  async function remove({ id }: CallExport): Promise<void> {
    await clientOf(enterprise).deleteCallExport({ exportId: id });
    list.reload();
    toast(words.removed);
  }
  return (
    <Dialog title={words.title} isWide onClose={onClose}>
      <div class="stack">
        <p class="soft">{words.about}</p>
        <Shown of={list}>
          {(all) =>
            all.length === 0 ? (
              <Empty icon="download" title={words.none}>
                {words.noneHint}
              </Empty>
            ) : (
              <ul class="items">
                {all.map((one) => (
                  <Item key={one.id} enterprise={enterprise} one={one} agents={agents} onRemove={() => remove(one)} />
                ))}
              </ul>
            )
          }
        </Shown>
      </div>
    </Dialog>
  );
}

function Item(props: { enterprise: string; one: CallExport; agents: readonly Agent[]; onRemove(): Promise<void> }) {
  const { enterprise, one, agents, onRemove } = props;
  const isDone = one.state === 'completed';
  const isAtWork = one.state === 'queued' || one.state === 'running';
  const total = Math.min(one.totalRows ?? 0, 100_000);
  return (
    <li class="stack tight">
      <div class="line apart">
        <div class="line">
          <Badge tone={TONES[one.state]}>{words.states[one.state]}</Badge>
          <strong>{words.formats[one.format]}</strong>
          <span>{words.rows(one.writtenRows, isDone ? null : one.totalRows)}</span>
          <span class="soft">{bytesWords(one.sizeBytes)}</span>
        </div>
        <div class="actions">
          {isDone ? (
            <a class="button" href={consolePath(enterprise, `/api/developer/call-exports/${one.id}/file`)} download>
              <Icon name="download" />
              <span>{words.fetch}</span>
            </a>
          ) : null}
          <Button kind="quiet" icon={isAtWork ? 'close' : 'trash'} onPress={onRemove}>
            {isAtWork ? words.stop : words.remove}
          </Button>
        </div>
      </div>
      {isAtWork && total > 0 ? <progress max={total} value={one.writtenRows} aria-label={words.progress} /> : null}
      <p class="soft tiny">
        <Time at={one.createdAt} /> · <Words>{sentenceOf(one, agents)}</Words>
        {one.expiresAt === null ? null : (
          <>
            {' · '}
            {words.until} <Time at={one.expiresAt} />
          </>
        )}
      </p>
      {one.isCut ? <p class="tiny">{words.cut}</p> : null}
    </li>
  );
}

/** `Status Failed; Agent River Dental` */
function sentenceOf({ filters, createdAt }: CallExport, agents: readonly Agent[]): string {
  const parts = Object.entries(filters).flatMap(([name, value]) => {
    // Set by the service, where nobody chose one.
    if (name === 'createdBefore' && Math.abs(Date.parse(String(value)) - Date.parse(createdAt)) < 60_000) return [];
    if (name === 'metadata')
      return Object.entries(value as Record<string, string>).map(([key, text]) => `${key} ${text}`);
    if (name === 'q') return [`“${String(value)}”`];
    const reads = readsAs(name, Array.isArray(value) ? value.join(',') : String(value), agents);
    return [`${reads.name} ${reads.value}`];
  });
  return parts.length === 0 ? words.everything : parts.join('; ');
}
