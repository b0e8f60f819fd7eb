/** A state in a word and a colour; the colour alone says nothing. */
import type { ComponentChildren } from 'preact';

export type Tone = 'good' | 'bad' | 'warn' | 'busy' | 'quiet' | 'accent';

export function Badge({ tone = 'quiet', children }: { tone?: Tone; children: ComponentChildren }) {
  return (
    <span class={`badge ${tone}`}>
      <span class="dot" aria-hidden="true" />
      {children}
    </span>
  );
}
