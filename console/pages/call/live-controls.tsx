/** What can be done with a call that runs: speak through the agent, tell it something, silence it. Each is audited. */
import { useState } from 'preact/hooks';
import type { Control } from '../../../clients/typescript/src/client.ts';
import { clientOf } from '../../api/request.ts';
import { call as words } from '../../texts/en/call.ts';
import { Button } from '../../ui/button.tsx';
import { toast } from '../../ui/toast.tsx';

export interface LiveControlsProps {
  enterprise: string;
  callUuid: string;
  /** As the call's events have it, whoever did it. */
  isMuted: boolean;
  /** Of a scripted agent, which follows no other whisper than the id of one. Empty: it takes any; null: not known. */
  steps: readonly string[] | null;
  /** The events are others now. */
  onChange(): void;
}

export function LiveControls(props: LiveControlsProps) {
  const { enterprise, callUuid, isMuted, steps, onChange } = props;
  const [text, setText] = useState('');
  const [interrupts, setInterrupts] = useState(false);
  const send = (body: Control): Promise<unknown> => clientOf(enterprise).controlCall({ callUuid, body });
  async function speak(action: 'say' | 'inject' | 'whisper'): Promise<void> {
    await send(action === 'say' ? { action, text, interrupt: interrupts } : { action, text });
    setText('');
    toast({ say: words.said, inject: words.sent, whisper: words.whispered }[action]);
  }
  async function jump(step: string): Promise<void> {
    await send({ action: 'whisper', text: step });
    toast(words.jumped(step));
  }
  async function toggle(): Promise<void> {
    await send({ action: isMuted ? 'unmute_agent' : 'mute_agent' });
    onChange();
    toast(isMuted ? words.unmuted : words.muted);
  }
  return (
    <form
      class="live-controls"
      onSubmit={(event) => {
        event.preventDefault();
      }}
    >
      <textarea
        rows={2}
        aria-label={words.sayPlaceholder}
        placeholder={words.sayPlaceholder}
        maxLength={1_000}
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
      />
      <div class="line">
        <Button
          kind="main"
          icon="say"
          title={words.sayHint}
          isDisabled={text.trim() === ''}
          onPress={() => speak('say')}
        >
          {words.say}
        </Button>
        {steps?.length === 0 ? (
          <Button title={words.whisperHint} isDisabled={text.trim() === ''} onPress={() => speak('whisper')}>
            {words.whisper}
          </Button>
        ) : null}
        <Button title={words.injectHint} isDisabled={text.trim() === ''} onPress={() => speak('inject')}>
          {words.inject}
        </Button>
        <label class="line tiny">
          <input
            type="checkbox"
            checked={interrupts}
            onChange={(event) => setInterrupts(event.currentTarget.checked)}
          />
          {words.interrupt}
        </label>
        <span class="grow" />
        <Button icon={isMuted ? 'sound' : 'mute'} isPressed={isMuted} onPress={toggle}>
          {isMuted ? words.unmute : words.mute}
        </Button>
      </div>
      {steps === null || steps.length === 0 ? null : <Jump steps={steps} run={jump} />}
    </form>
  );
}

/** The caller hears the step at once: it takes a press of its own. */
function Jump({ steps, run }: { steps: readonly string[]; run(step: string): Promise<void> }) {
  const [step, setStep] = useState('');
  return (
    <div class="line">
      <select
        class="short"
        aria-label={words.step}
        value={step}
        onChange={(event) => setStep(event.currentTarget.value)}
      >
        <option value="">{words.step}</option>
        {steps.map((one) => (
          <option key={one} value={one} selected={one === step}>
            {one}
          </option>
        ))}
      </select>
      <Button isDisabled={step === ''} onPress={() => run(step)}>
        {words.jump}
      </Button>
    </div>
  );
}
