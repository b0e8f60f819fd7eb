/** How the widget looks on the websites of a key: the form at one side, the widget itself at the other. */
import { useEffect, useRef, useState } from 'preact/hooks';
import type { WidgetKey, WidgetLook } from '../../../clients/typescript/src/client.ts';
import { clientOf } from '../../api/request.ts';
import { common } from '../../texts/en/common.ts';
import { lookWords as words } from '../../texts/en/widget-look.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Area, Check, FileInput, Select, Text } from '../../ui/field.tsx';
import { Form } from '../../ui/form.tsx';
import { Shown } from '../../ui/states.tsx';
import { useSetting } from '../../ui/tagged.tsx';
import { toast } from '../../ui/toast.tsx';
import { smallPicture } from './small-picture.ts';

type State = keyof typeof words.states;
interface LookProps {
  enterprise: string;
  widgetKey: WidgetKey;
  onClose(): void;
}

const USUAL_COLOR = '#0f766e';
const TYPING_MS = 250;

export function LookDialog({ enterprise, widgetKey, onClose }: LookProps) {
  const { publicKey, name } = widgetKey;
  const client = clientOf(enterprise);
  const setting = useSetting<WidgetLook>(
    (signal) => client.readWidgetLook({ publicKey }, { signal }),
    [enterprise, publicKey],
  );
  return (
    <>
      <Dialog title={words.title(name)} isWide onClose={onClose}>
        <Shown of={setting}>
          {({ data }) => (
            <LookForm
              key={JSON.stringify(data)}
              enterprise={enterprise}
              publicKey={publicKey}
              known={data}
              onClose={onClose}
              save={async (body) => {
                await setting.save((headers) => client.setWidgetLook({ publicKey, body }, { headers }), body);
                toast(words.stored);
                onClose();
              }}
            />
          )}
        </Shown>
      </Dialog>
      {setting.conflict}
    </>
  );
}

const optionsOf = (names: Record<string, string>) => Object.entries(names).map(([value, label]) => ({ value, label }));

function LookForm(props: {
  enterprise: string;
  publicKey: string;
  known: WidgetLook;
  save(look: WidgetLook): Promise<void>;
  onClose(): void;
}) {
  const { enterprise, publicKey, known, save, onClose } = props;
  const [look, setLook] = useState(known);
  const [problem, setProblem] = useState<string>();
  const set = (change: Partial<WidgetLook>): void => setLook((before) => ({ ...before, ...change }));
  const orNull = (text: string): string | null => (text.trim() === '' ? null : text);
  async function choose(file: File | null): Promise<void> {
    if (file === null) return;
    const picture = await smallPicture(file);
    setProblem(picture === null ? words.noPicture : undefined);
    if (picture !== null) set({ picture });
  }
  return (
    <div class="look">
      <Form
        submit={() => save(look)}
        action={common.save}
        fields={['name', 'color', 'language', 'position', 'panel', 'errorText', 'picture']}
        onCancel={onClose}
      >
        {(faults) => (
          <>
            <p class="soft">{words.about}</p>
            <Text
              label={words.name}
              help={words.nameHelp}
              value={look.name ?? ''}
              fault={faults['name']}
              onInput={(name) => set({ name: orNull(name) })}
            />
            <div class="columns">
              <Select
                label={words.language}
                value={look.language}
                options={optionsOf(words.languages)}
                onInput={(language) => set({ language: language as WidgetLook['language'] })}
              />
              <Select
                label={words.position}
                value={look.position}
                options={optionsOf(words.positions)}
                onInput={(position) => set({ position: position as WidgetLook['position'] })}
              />
            </div>
            <Check
              label={words.ownColor}
              help={words.colorHelp}
              isOn={look.color !== null}
              onInput={(isOn) => set({ color: isOn ? USUAL_COLOR : null })}
            />
            {look.color === null ? null : (
              <Text
                label={words.color}
                type="color"
                value={look.color}
                fault={faults['color']}
                onInput={(color) => set({ color })}
              />
            )}
            <Select
              label={words.panel}
              value={look.panel}
              options={optionsOf(words.panels)}
              onInput={(panel) => set({ panel: panel as WidgetLook['panel'] })}
            />
            <Check label={words.typing} isOn={look.typing} onInput={(typing) => set({ typing })} />
            <Check label={words.transcript} isOn={look.transcript} onInput={(transcript) => set({ transcript })} />
            <Area
              label={words.errorText}
              help={words.errorHelp}
              rows={2}
              value={look.errorText ?? ''}
              fault={faults['errorText']}
              onInput={(text) => set({ errorText: orNull(text) })}
            />
            <FileInput
              label={words.picture}
              help={look.picture === null ? words.pictureHelp : words.hasPicture}
              accept="image/png,image/jpeg,image/webp"
              fault={faults['picture'] ?? problem}
              onInput={(file) => void choose(file)}
            />
            {look.picture === null ? null : (
              <Button icon="trash" onPress={() => set({ picture: null })}>
                {words.removePicture}
              </Button>
            )}
          </>
        )}
      </Form>
      <Preview enterprise={enterprise} publicKey={publicKey} look={look} />
    </div>
  );
}

function Preview({ enterprise, publicKey, look }: { enterprise: string; publicKey: string; look: WidgetLook }) {
  const frame = useRef<HTMLIFrameElement>(null);
  const [isReady, setReady] = useState(false);
  const [state, setState] = useState<State>('live');
  useEffect(() => {
    const hear = ({ origin, source, data }: MessageEvent): void => {
      const isOurs = origin === location.origin && source === frame.current?.contentWindow;
      if (isOurs && (data as { type?: string })?.type === 'ready') setReady(true);
    };
    addEventListener('message', hear);
    return () => removeEventListener('message', hear);
  }, []);
  const key = JSON.stringify(look);
  // What follows from a look the service makes, as for visitors. A look that it would refuse is shown no more.
  useEffect(() => {
    if (!isReady) return;
    const gone = new AbortController();
    const timer = setTimeout(() => {
      clientOf(enterprise)
        .previewWidgetLook({ publicKey, body: look }, { signal: gone.signal })
        .then(({ data }) => {
          const said = words.said.map(([role, text]) => ({ role, text }));
          frame.current?.contentWindow?.postMessage({ type: 'look', look: data, state, said }, location.origin);
        })
        .catch(() => {});
    }, TYPING_MS);
    return () => {
      clearTimeout(timer);
      gone.abort();
    };
  }, [isReady, key, state]);
  return (
    <div class="stack tight">
      <div class="line" role="group" aria-label={words.preview}>
        {Object.entries(words.states).map(([one, label]) => (
          <Button key={one} isPressed={state === one} onPress={() => setState(one as State)}>
            {label}
          </Button>
        ))}
      </div>
      <iframe ref={frame} class="look-frame" title={words.preview} src="/embed/preview" />
    </div>
  );
}
