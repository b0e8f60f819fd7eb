/** What stands where there is nothing to show: it is coming, there is none, it went wrong. Each says what to do. */
import type { ComponentChildren } from 'preact';
import { common } from '../texts/en/common.ts';
import { Button } from './button.tsx';
import { wordsOf } from './error-words.ts';
import { Icon, type IconName } from './icons.tsx';
import type { Loaded } from './load.ts';

/** Grey lines in the shape of what comes; words for those who hear. */
export function Loading({ lines = 4 }: { lines?: number }) {
  return (
    <div class="loading" role="status">
      <span class="hidden">{common.loading}</span>
      {Array.from({ length: lines }, (_, index) => (
        <div key={index} class="bone" />
      ))}
    </div>
  );
}

export interface EmptyProps {
  icon?: IconName;
  title: string;
  children?: ComponentChildren;
  action?: ComponentChildren;
}

export function Empty({ icon = 'info', title, children, action }: EmptyProps) {
  return (
    <div class="empty">
      <Icon name={icon} size={24} />
      <p class="title">{title}</p>
      {children === undefined ? null : <p class="soft">{children}</p>}
      {action}
    </div>
  );
}

export function Failure({ error, onRetry }: { error: unknown; onRetry?: () => void }) {
  const { title, details, requestId, kind } = wordsOf(error);
  const known = {
    offline: [common.offlineTitle, common.offlineHint],
    forbidden: [common.notYours, title],
    missing: [common.notFound, common.notFoundHint],
  }[kind as 'offline' | 'forbidden' | 'missing'];
  return (
    <div class="empty" role="alert">
      <Icon name="warn" size={24} />
      <p class="title">{known?.[0] ?? title}</p>
      {known === undefined ? null : <p class="soft">{known[1]}</p>}
      {known === undefined && details.length > 1 ? (
        <ul class="soft">
          {details.map(({ field, issue }) => (
            <li key={field}>{issue}</li>
          ))}
        </ul>
      ) : null}
      {onRetry === undefined || kind === 'forbidden' ? null : (
        <Button icon="refresh" onPress={onRetry}>
          {common.retry}
        </Button>
      )}
      {requestId === null ? null : (
        <p class="tiny soft">
          {common.requestId} <code>{requestId}</code>
        </p>
      )}
    </div>
  );
}

/** Of what was asked for: the state, or what `children` makes of the answer. */
export function Shown<Data>(props: { of: Loaded<Data>; lines?: number; children: (data: Data) => ComponentChildren }) {
  const { data, error, isLoading, reload } = props.of;
  if (data !== undefined) return <>{props.children(data)}</>;
  if (error !== undefined && !isLoading) return <Failure error={error} onRetry={reload} />;
  return <Loading lines={props.lines ?? 4} />;
}
