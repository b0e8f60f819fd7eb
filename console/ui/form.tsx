/**
 * A form whose work may fail: its faults stand at their fields, the rest above the buttons, and what was typed stays.
 */
import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { common } from '../texts/en/common.ts';
import { Button } from './button.tsx';
import { faultsOf, isSignedOut, wordsOf } from './error-words.ts';
import { Notice } from './notice.tsx';

export interface FormProps {
  /** What it does; what it rejects with is shown. */
  submit(): Promise<unknown>;
  children: (faults: Record<string, string>) => ComponentChildren;
  action: string;
  isDangerous?: boolean;
  isDisabled?: boolean;
  /** Names of its fields as the service calls them: faults of others are told above the buttons. */
  fields?: readonly string[];
  onCancel?: () => void;
  /** In place of the message, where an error wants more: a difference, a second step. */
  onError?: (error: unknown) => boolean;
}

export function Form(props: FormProps) {
  const { submit, children, action, isDangerous = false, fields = [], onCancel } = props;
  const [error, setError] = useState<unknown>();
  const [isBusy, setBusy] = useState(false);
  const element = useRef<HTMLFormElement>(null);
  const faults = faultsOf(error);
  const others = Object.keys(faults).filter((field) => !fields.includes(field));
  const isTold = error !== undefined && (Object.keys(faults).length === 0 || others.length > 0);

  // The first faulty field has the focus: who hears the page is told where.
  useEffect(() => {
    if (error !== undefined) element.current?.querySelector<HTMLElement>('[aria-invalid=true]')?.focus();
  }, [error]);

  async function send(event: SubmitEvent): Promise<void> {
    event.preventDefault();
    if (isBusy) return;
    setBusy(true);
    setError(undefined);
    try {
      await submit();
    } catch (fault) {
      if (props.onError?.(fault) !== true && !isSignedOut(fault)) setError(fault);
    } finally {
      setBusy(false);
    }
  }
  return (
    <form ref={element} class="stack" onSubmit={(event) => void send(event)}>
      {children(faults)}
      {isTold ? (
        <Notice kind="error">
          {others.length > 1 ? others.map((field) => <p key={field}>{faults[field]}</p>) : wordsOf(error).title}
        </Notice>
      ) : null}
      <div class="actions">
        {onCancel === undefined ? null : <Button onPress={onCancel}>{common.cancel}</Button>}
        <Button
          type="submit"
          kind={isDangerous ? 'danger' : 'main'}
          isBusy={isBusy}
          isDisabled={props.isDisabled === true}
        >
          {action}
        </Button>
      </div>
    </form>
  );
}
