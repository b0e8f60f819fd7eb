/** How a call's state and outcome read, and how it is ended, the same on every page. */
import { useState } from 'preact/hooks';
import type { Call } from '../../clients/typescript/src/client.ts';
import { call as words } from '../texts/en/call.ts';
import { endedWords, hungUpWords, statusWords } from '../texts/en/calls.ts';
import { Badge, type Tone } from './badge.tsx';
import { Button } from './button.tsx';
import { Confirm } from './dialog.tsx';
import { toast } from './toast.tsx';

const TONES: Readonly<Record<string, Tone>> = {
  queued: 'quiet',
  dialing: 'busy',
  ringing: 'busy',
  in_progress: 'accent',
  completed: 'good',
  no_answer: 'quiet',
  failed: 'bad',
};

/** Before the origin of the page on which a visitor talks. */
const WEB = 'web:';

export const isOver = (status: string): boolean => ['completed', 'no_answer', 'failed'].includes(status);

export function CallStatus({ status }: { status: string }) {
  return <Badge tone={TONES[status] ?? 'quiet'}>{statusWords[status] ?? status}</Badge>;
}

/** `direction`: as the call has it, where it is of one. */
export function endedAs(reason: string | null, direction = ''): string {
  if (reason === null) return '–';
  return (reason === 'user_hangup' ? hungUpWords[direction] : undefined) ?? endedWords[reason] ?? reason;
}

/** What the analysis says of an intent that it does not know. */
const NO_INTENT = 'other';

/** What came of the call: why it failed, what it was about, else what was made of it, else how it ended. */
export function outcomeOf(call: Pick<Call, 'intent' | 'disposition' | 'status' | 'endedReason' | 'direction'>): string {
  const { intent, disposition, status, endedReason, direction } = call;
  if (status === 'failed') return endedAs(endedReason, direction);
  if (intent !== null && intent !== NO_INTENT) return intent;
  return disposition ?? (isOver(status) ? endedAs(endedReason, direction) : (intent ?? ''));
}

/** Who was spoken to: the name where there is one, else the number, else how a visitor of a page came to talk. */
export function whoOf(call: { name: string; to: string; fromNumber: string; direction: string }): string {
  if (call.name !== '' && call.name !== 'Customer') return call.name;
  const numbers = call.direction === 'inbound' ? [call.fromNumber, call.to] : [call.to, call.fromNumber];
  const found = numbers.find((number) => number !== '') ?? call.name;
  if (!found.startsWith(WEB)) return found;
  const origin = found.slice(WEB.length);
  return origin === location.origin ? words.webHere : words.webFrom(origin.replace(/^https?:\/\//, ''));
}

/** The number beside a name, as far as there is one. */
export function numberBeside(call: { name: string; to: string; fromNumber: string; direction: string }): string {
  const number = call.direction === 'inbound' ? call.fromNumber : call.to;
  return whoOf(call) === number || number.startsWith(WEB) ? '' : number;
}

/** Ends a call, after a question that names it. `run` asks the service. */
export function HangUp(props: {
  call: { name: string; to: string; fromNumber: string; direction: string };
  run(): Promise<unknown>;
  isQuiet?: boolean;
}) {
  const { call, run, isQuiet = false } = props;
  const [isAsking, setAsking] = useState(false);
  const who = `${whoOf(call)} ${numberBeside(call)}`.trim();
  return (
    <>
      {isQuiet ? (
        <Button kind="quiet" icon="hangUp" label={words.hangUp} onPress={() => setAsking(true)} />
      ) : (
        <Button kind="danger" icon="hangUp" onPress={() => setAsking(true)}>
          {words.hangUp}
        </Button>
      )}
      {isAsking ? (
        <Confirm
          title={words.hangUpTitle}
          of={who}
          action={words.hangUp}
          isDangerous
          run={async () => {
            await run();
            toast(words.hungUp);
          }}
          onClose={() => setAsking(false)}
        >
          <p>{words.hangUpAsk}</p>
        </Confirm>
      ) : null}
    </>
  );
}
