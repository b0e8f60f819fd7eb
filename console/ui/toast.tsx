/** Short news at the edge of the window: what was done, with a way back where there is one; what went wrong. */
import { signal } from '@preact/signals';
import { common } from '../texts/en/common.ts';
import { isSignedOut, wordsOf } from './error-words.ts';
import { Icon } from './icons.tsx';

interface Toast {
  id: number;
  text: string;
  isError: boolean;
  action?: { label: string; run(): void };
}

const SHOWN_MS = 6_000;
const ERROR_SHOWN_MS = 12_000;
/** Something to press is left for whoever needs long to get there. */
const ACTION_SHOWN_MS = 30_000;
const toasts = signal<Toast[]>([]);
let count = 0;

export function toast(text: string, action?: Toast['action']): void {
  show({ id: ++count, text, isError: false, ...(action === undefined ? {} : { action }) });
}

/** It was done, and came to nothing. */
export function toastWarning(text: string): void {
  show({ id: ++count, text, isError: true });
}

export function toastError(error: unknown): void {
  if (isSignedOut(error)) return;
  show({ id: ++count, text: wordsOf(error).title, isError: true });
}

function show(one: Toast): void {
  toasts.value = [...toasts.value.slice(-3), one];
  const shownMs = one.action === undefined ? SHOWN_MS : ACTION_SHOWN_MS;
  setTimeout(() => dismiss(one.id), one.isError ? ERROR_SHOWN_MS : shownMs);
}

function dismiss(id: number): void {
  toasts.value = toasts.value.filter((one) => one.id !== id);
}

/** Once in the page; screen readers hear news without being interrupted. */
export function Toasts() {
  return (
    <div class="toasts" role="status" aria-live="polite">
      {toasts.value.map((one) => (
        <div key={one.id} class={`toast${one.isError ? ' error' : ''}`}>
          <Icon name={one.isError ? 'warn' : 'check'} />
          <span>{one.text}</span>
          {one.action === undefined ? null : (
            <button
              type="button"
              class="button quiet"
              onClick={() => {
                one.action?.run();
                dismiss(one.id);
              }}
            >
              {one.action.label}
            </button>
          )}
          <button type="button" class="button quiet bare" aria-label={common.dismiss} onClick={() => dismiss(one.id)}>
            <Icon name="close" size={14} />
          </button>
        </div>
      ))}
    </div>
  );
}
