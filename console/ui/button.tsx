/** Buttons. While its work is under way a button cannot be pressed again, and says so. */
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { Icon, type IconName } from './icons.tsx';
import { toastError } from './toast.tsx';

export interface ButtonProps {
  children?: ComponentChildren;
  icon?: IconName;
  /** For one that shows an icon alone. */
  label?: string;
  kind?: 'plain' | 'main' | 'danger' | 'quiet';
  type?: 'button' | 'submit';
  isBusy?: boolean;
  isDisabled?: boolean;
  isPressed?: boolean;
  title?: string;
  class?: string;
  /** What it rejects with is told in a toast. */
  onPress?: (event: MouseEvent) => unknown;
}

export function Button(props: ButtonProps) {
  const { children, icon, label, kind = 'plain', type = 'button', onPress } = props;
  const [isWorking, setWorking] = useState(false);
  const isBusy = isWorking || props.isBusy === true;
  async function press(event: MouseEvent): Promise<void> {
    const work = onPress?.(event);
    if (!(work instanceof Promise)) return;
    setWorking(true);
    try {
      await work;
    } catch (error) {
      toastError(error);
    } finally {
      setWorking(false);
    }
  }
  return (
    <button
      type={type}
      class={`button ${kind}${children === undefined ? ' bare' : ''}${isBusy ? ' busy' : ''} ${props.class ?? ''}`}
      aria-label={label}
      aria-busy={isBusy || undefined}
      aria-pressed={props.isPressed}
      title={props.title ?? (children === undefined ? label : undefined)}
      disabled={props.isDisabled}
      // Not disabled while it works: it would lose the focus.
      onClick={(event) => (isBusy ? event.preventDefault() : void press(event))}
    >
      {icon === undefined ? null : <Icon name={icon} />}
      {children === undefined ? null : <span>{children}</span>}
    </button>
  );
}
