/**
 * The browser's own dialog: it keeps the focus inside. Escape closes it. What was focused before gets the focus back,
 * also where one dialog leads to another; the browser gives it back for a dialog that stays in the document only.
 */
import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { common } from '../texts/en/common.ts';
import { Button } from './button.tsx';
import { isSignedOut, wordsOf } from './error-words.ts';
import { Notice } from './notice.tsx';
import { Words } from './text.tsx';

export interface DialogProps {
  title: string;
  /** A stranger's words behind the title: what it is about. */
  of?: string | undefined;
  children: ComponentChildren;
  isWide?: boolean;
  /** False: it must be answered. */
  mayClose?: boolean;
  onClose(): void;
}

/** Where the focus was before the first of the dialogs that follow one another. */
let opener: HTMLElement | null = null;
const isLost = (): boolean => document.activeElement === null || document.activeElement === document.body;
/** What one came for, and not the cross in the corner. */
const FIRST = '.content :is(input, select, textarea, button, a[href]):not([disabled], [hidden])';

function focusInside(dialog: HTMLDialogElement): void {
  if (!isLost()) opener = document.activeElement as HTMLElement;
  dialog.showModal();
  dialog.querySelector<HTMLElement>(FIRST)?.focus();
}

function giveFocusBack(): void {
  if (!isLost() || document.querySelector('dialog[open]') !== null) return;
  // A row that was drawn anew is another one.
  const target = opener?.isConnected === true ? opener : document.querySelector<HTMLElement>('h1');
  target?.focus();
  opener = null;
}

/** Open for as long as it is there. */
export function Dialog({ title, of, children, isWide = false, mayClose = true, onClose }: DialogProps) {
  const id = useId();
  const element = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const dialog = element.current!;
    focusInside(dialog);
    return () => {
      dialog.close();
      // One that follows opens after this.
      setTimeout(giveFocusBack);
    };
  }, []);
  return (
    <dialog
      ref={element}
      class={isWide ? 'dialog wide' : 'dialog'}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault();
        if (mayClose) onClose();
      }}
    >
      <header>
        <h2 id={id}>
          {title}
          {of === undefined ? null : (
            <>
              {' '}
              <Words>{of}</Words>
            </>
          )}
        </h2>
        {mayClose ? <Button kind="quiet" icon="close" label={common.close} onPress={onClose} /> : null}
      </header>
      <div class="content">{children}</div>
    </dialog>
  );
}

export interface ConfirmProps {
  title: string;
  of?: string;
  children?: ComponentChildren;
  action: string;
  isDangerous?: boolean;
  run(): Promise<unknown>;
  onClose(): void;
}

/** A question before what cannot be undone. What goes wrong is told inside. */
export function Confirm({ title, of, children, action, isDangerous = false, run, onClose }: ConfirmProps) {
  const [error, setError] = useState<unknown>();
  async function confirm(): Promise<void> {
    try {
      await run();
      onClose();
    } catch (fault) {
      if (!isSignedOut(fault)) setError(fault);
    }
  }
  return (
    <Dialog title={title} of={of} onClose={onClose}>
      <div class="stack">
        {children}
        {error === undefined ? null : <Notice kind="error">{wordsOf(error).title}</Notice>}
        <div class="actions">
          <Button onPress={onClose}>{common.cancel}</Button>
          <Button kind={isDangerous ? 'danger' : 'main'} onPress={confirm}>
            {action}
          </Button>
        </div>
      </div>
    </Dialog>
  );
}
