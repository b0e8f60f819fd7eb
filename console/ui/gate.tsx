/** The frame of pages that people see before they are signed in. */
import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import { shell } from '../texts/en/shell.ts';
import { Icon } from './icons.tsx';

export function Gate(props: { title: string; children: ComponentChildren; below?: ComponentChildren }) {
  useEffect(() => {
    document.title = `${props.title} · ${shell.product}`;
  }, [props.title]);
  return (
    <div class="gate">
      <main>
        <div class="mark">
          <Icon name="voice" size={24} />
          {shell.product}
        </div>
        <div class="card stack">
          <h1>{props.title}</h1>
          {props.children}
        </div>
        {props.below}
      </main>
    </div>
  );
}
