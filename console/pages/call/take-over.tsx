/** Speaking with the caller in the agent's place: taking a call over, and handing it back with a word for the agent. */
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Listening } from '../../api/listening.ts';
import { call as words } from '../../texts/en/call.ts';
import { Button } from '../../ui/button.tsx';
import { Text } from '../../ui/field.tsx';
import { toast } from '../../ui/toast.tsx';
import { openMicrophone, type PersonMicrophone } from './person-microphone.ts';

/** `isTaken`: by somebody, as the call says. `onSpeaking`: this person does, or does no more. */
export function TakeOver(props: { listening: Listening; isTaken: boolean; onSpeaking(isSpeaking: boolean): void }) {
  const { listening, isTaken, onSpeaking } = props;
  const [mine, setMine] = useState<'no' | 'coming' | 'yes'>('no');
  const [note, setNote] = useState('');
  const microphone = useRef<PersonMicrophone | null>(null);
  const wasTaken = useRef(false);

  function stop(): void {
    microphone.current?.close();
    microphone.current = null;
    setMine('no');
    onSpeaking(false);
  }

  async function take(): Promise<void> {
    let isHeard = false;
    setMine('coming');
    try {
      microphone.current = await openMicrophone(
        (frame) => isHeard && listening.speak(frame),
        () => void giveBack(),
      );
    } catch {
      stop();
      throw new Error(words.takeOverResults.microphone);
    }
    const result = await listening.ask({ type: 'takeover' });
    if (result !== 'done') {
      stop();
      const { takeOverResults } = words;
      throw new Error(takeOverResults[result as keyof typeof takeOverResults] ?? takeOverResults.other);
    }
    isHeard = true;
    setMine('yes');
    onSpeaking(true);
  }

  async function giveBack(): Promise<void> {
    const text = note.trim();
    microphone.current?.close();
    const result = await listening.ask({ type: 'handback', ...(text === '' ? {} : { note: text }) });
    stop();
    setNote('');
    if (result === 'done') toast(words.handedBack);
  }

  // Somebody else has handed back, or the line was gone for too long.
  useEffect(() => {
    if (wasTaken.current && !isTaken && mine === 'yes') {
      stop();
      toast(words.takeOverLost);
    }
    wasTaken.current = isTaken;
  }, [isTaken]);
  useEffect(() => () => microphone.current?.close(), []);

  if (mine === 'no' && isTaken) return <p class="tiny">{words.takeOverOther}</p>;
  if (mine !== 'yes') {
    return (
      <div class="line">
        <Button icon="voice" title={words.takeOverHint} onPress={take}>
          {words.takeOver}
        </Button>
      </div>
    );
  }
  return (
    <div class="live-controls">
      <p role="status">{words.takenOver}</p>
      <Text label={words.handBackNote} help={words.handBackNoteHint} value={note} onInput={setNote} />
      <div class="line">
        <Button kind="main" onPress={giveBack}>
          {words.handBack}
        </Button>
      </div>
    </div>
  );
}
