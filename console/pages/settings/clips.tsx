/** Clips: sound that agents play where they would speak. Adding one, hearing it, who plays it, deleting it. */
import { useState } from 'preact/hooks';
import type { Clip } from '../../../clients/typescript/src/client.ts';
import { clientOf, consolePath } from '../../api/request.ts';
import { may } from '../../api/session.ts';
import { clipWords as words } from '../../texts/en/clips.ts';
import { common } from '../../texts/en/common.ts';
import { to } from '../../ui/address.ts';
import { bytesWords } from '../../ui/amount.ts';
import { Button } from '../../ui/button.tsx';
import { copyText } from '../../ui/copy.tsx';
import { Confirm, Dialog } from '../../ui/dialog.tsx';
import { Area, FileInput, Text } from '../../ui/field.tsx';
import { Form } from '../../ui/form.tsx';
import { useLoad } from '../../ui/load.ts';
import { Section } from '../../ui/page.tsx';
import { Empty, Shown } from '../../ui/states.tsx';
import { Table } from '../../ui/table.tsx';
import { Words } from '../../ui/text.tsx';
import { clockWords, Time } from '../../ui/time.tsx';
import { toast } from '../../ui/toast.tsx';

type Open = { kind: 'add' } | { kind: 'show' | 'delete'; clip: Clip };

export function Clips({ enterprise }: { enterprise: string }) {
  const client = clientOf(enterprise);
  const clips = useLoad(async (signal) => (await client.listClips({}, { signal })).data.data, [enterprise]);
  const [open, setOpen] = useState<Open | null>(null);
  const close = (): void => setOpen(null);
  const mayWrite = may('settings:write');
  const { columns: names } = words;
  return (
    <Section
      title={words.title}
      about={words.about}
      isFlush
      actions={
        mayWrite ? (
          <Button kind="main" icon="plus" onPress={() => setOpen({ kind: 'add' })}>
            {words.add}
          </Button>
        ) : null
      }
    >
      <Shown of={clips}>
        {(all) =>
          all.length === 0 ? (
            <Empty icon="sound" title={words.empty}>
              {words.emptyHint}
            </Empty>
          ) : (
            <Table
              label={words.title}
              rows={all}
              keyOf={({ id }) => id}
              columns={[
                {
                  name: names.name,
                  cell: (clip) => (
                    <>
                      <button type="button" class="inline" onClick={() => setOpen({ kind: 'show', clip })}>
                        <Words>{clip.name}</Words>
                      </button>
                      <div class="soft tiny clipped">
                        <Words>{clip.text}</Words>
                      </div>
                    </>
                  ),
                },
                {
                  name: names.length,
                  isNumber: true,
                  cell: ({ durationMs }) => clockWords(Math.round(durationMs / 1_000)),
                },
                { name: names.loudness, isNumber: true, cell: ({ loudnessLufs }) => loudnessOf(loudnessLufs) },
                { name: names.size, isNumber: true, cell: ({ sizeBytes }) => bytesWords(sizeBytes) },
                { name: names.made, cell: ({ createdAt }) => <Time at={createdAt} /> },
                {
                  name: names.actions,
                  isHidden: true,
                  cell: (clip) =>
                    mayWrite ? (
                      <Button
                        kind="quiet"
                        icon="trash"
                        label={`${words.delete}: ${clip.name}`}
                        onPress={() => setOpen({ kind: 'delete', clip })}
                      />
                    ) : null,
                },
              ]}
            />
          )
        }
      </Shown>
      {open?.kind === 'add' ? <AddDialog enterprise={enterprise} onClose={close} onChange={clips.reload} /> : null}
      {open?.kind === 'show' ? <ClipDialog enterprise={enterprise} clip={open.clip} onClose={close} /> : null}
      {open?.kind === 'delete' ? (
        <Confirm
          title={words.delete}
          action={words.delete}
          isDangerous
          run={async () => {
            await client.deleteClip({ clipId: open.clip.id });
            toast(words.deleted);
            clips.reload();
          }}
          onClose={close}
        >
          <p>{words.deleteAsk(open.clip.name)}</p>
        </Confirm>
      ) : null}
    </Section>
  );
}

/** Nothing is louder than nothing: silence has no loudness. */
const loudnessOf = (lufs: number): string => (lufs <= -70 ? words.quiet : words.lufs(lufs));

function AddDialog({ enterprise, onClose, onChange }: { enterprise: string; onClose(): void; onChange(): void }) {
  const [name, setName] = useState('');
  const [text, setText] = useState('');
  const [file, setFile] = useState<File | null>(null);
  const [missing, setMissing] = useState<string>();
  async function add(): Promise<void> {
    setMissing(file === null ? words.noFile : undefined);
    if (file === null) return;
    await clientOf(enterprise).createClip({ body: { name, text, file } });
    toast(words.stored);
    onChange();
    onClose();
  }
  function choose(chosen: File | null): void {
    setFile(chosen);
    // `Welcome 2.ogg` → `Welcome-2`
    if (name === '' && chosen !== null)
      setName(
        chosen.name
          .replace(/\.[^.]*$/, '')
          .replace(/[^A-Za-z0-9._-]+/g, '-')
          .slice(0, 64),
      );
  }
  return (
    <Dialog title={words.add} onClose={onClose}>
      <Form submit={add} action={common.add} fields={['name', 'text', 'file']} onCancel={onClose}>
        {(faults) => (
          <>
            <FileInput
              label={words.file}
              help={words.fileHelp}
              accept="audio/*,video/webm"
              fault={faults['file'] ?? missing}
              onInput={choose}
            />
            <Text
              label={words.name}
              help={words.nameHelp}
              isMono
              isRequired
              value={name}
              fault={faults['name']}
              onInput={setName}
            />
            <Area
              label={words.text}
              help={words.textHelp}
              rows={2}
              value={text}
              fault={faults['text']}
              onInput={setText}
            />
          </>
        )}
      </Form>
    </Dialog>
  );
}

function ClipDialog({ enterprise, clip, onClose }: { enterprise: string; clip: Clip; onClose(): void }) {
  const known = useLoad(
    async (signal) => (await clientOf(enterprise).readClip({ clipId: clip.id }, { signal })).data,
    [enterprise, clip.id],
  );
  return (
    <Dialog title={clip.name} onClose={onClose}>
      <div class="stack">
        {/* biome-ignore lint/a11y/useMediaCaption: what it says stands below */}
        <audio
          controls
          preload="metadata"
          aria-label={words.play(clip.name)}
          src={consolePath(enterprise, `/api/developer/clips/${clip.id}/sound`)}
        />
        {clip.text === '' ? null : (
          <p>
            <Words>{clip.text}</Words>
          </p>
        )}
        <section class="stack tight">
          <h3>{words.usedBy}</h3>
          <Shown of={known} lines={1}>
            {({ usedBy }) =>
              usedBy.length === 0 ? (
                <p class="soft">{words.nobody}</p>
              ) : (
                <ul class="items">
                  {usedBy.map(({ agentId, name }) => (
                    <li key={agentId}>
                      <a href={to(['w', enterprise, 'agents', agentId])}>
                        <Words>{name}</Words>
                      </a>
                    </li>
                  ))}
                </ul>
              )
            }
          </Shown>
        </section>
        <div class="actions">
          <Button icon="copy" onPress={() => copyText(JSON.stringify({ clip: clip.name }))}>
            {words.copyJson}
          </Button>
          <Button kind="main" onPress={onClose}>
            {common.close}
          </Button>
        </div>
      </div>
    </Dialog>
  );
}
