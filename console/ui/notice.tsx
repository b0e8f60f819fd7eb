/** A sentence with a colour: what a person should know before they go on. */
import type { ComponentChildren } from 'preact';
import { Icon } from './icons.tsx';

export function Notice(props: { kind?: 'info' | 'warn' | 'error' | 'good'; children: ComponentChildren }) {
  const { kind = 'info', children } = props;
  return (
    <div class={`notice ${kind}`} role={kind === 'error' ? 'alert' : undefined}>
      <Icon name={kind === 'info' ? 'info' : kind === 'good' ? 'check' : 'warn'} />
      <div>{children}</div>
    </div>
  );
}
