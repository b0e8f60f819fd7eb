/** The frame of a page: its title, which has the focus when one comes to it, what can be done, and its parts. */
import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { useSeenItem } from './seen-item.ts';

export interface PageProps {
  title: string;
  /** Where the title alone is for the window's tab. */
  heading?: ComponentChildren;
  about?: ComponentChildren;
  actions?: ComponentChildren;
  above?: ComponentChildren;
  isWide?: boolean;
  children?: ComponentChildren;
}

export function PageHead({
  title,
  heading,
  about,
  actions,
}: Pick<PageProps, 'title' | 'heading' | 'about' | 'actions'>) {
  const top = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = `${title} · Parley`;
  }, [title]);
  useEffect(() => {
    // After a change of page, not while somebody types: a dialog or a field that is there keeps the focus.
    if (document.activeElement === document.body || document.activeElement?.closest('nav') != null) {
      top.current?.focus({ preventScroll: true });
    }
  }, []);
  return (
    <header class="page-head">
      <div>
        <h1 ref={top} tabIndex={-1}>
          {heading ?? title}
        </h1>
        {about === undefined ? null : <div class="soft">{about}</div>}
      </div>
      {actions === undefined ? null : <div class="actions">{actions}</div>}
    </header>
  );
}

export function Page({ above, isWide = false, children, ...head }: PageProps) {
  return (
    <div class={isWide ? 'page wide' : 'page'}>
      {above}
      <PageHead {...head} />
      {children}
    </div>
  );
}

/** A part of a page, with a heading of its own. */
export function Section(props: {
  title: string;
  about?: ComponentChildren;
  actions?: ComponentChildren;
  isFlush?: boolean;
  children: ComponentChildren;
}) {
  const { title, about, actions, isFlush = false, children } = props;
  return (
    <section class={isFlush ? 'section flush' : 'section'}>
      <header>
        <div>
          <h2>{title}</h2>
          {about === undefined ? null : <p class="soft">{about}</p>}
        </div>
        {actions === undefined ? null : <div class="actions">{actions}</div>}
      </header>
      {children}
    </section>
  );
}

/** Places within a page, as links: the one that is shown is marked. */
export function Tabs({
  label,
  tabs,
}: {
  label: string;
  tabs: readonly { label: ComponentChildren; href: string; isHere: boolean }[];
}) {
  const list = useSeenItem<HTMLElement>(tabs.find(({ isHere }) => isHere)?.href);
  return (
    <nav ref={list} class="tabs" aria-label={label}>
      {tabs.map((one) => (
        <a key={one.href} href={one.href} aria-current={one.isHere ? 'page' : undefined}>
          {one.label}
        </a>
      ))}
    </nav>
  );
}

/** Facts with their names. */
export function Facts({ facts }: { facts: readonly (readonly [string, ComponentChildren])[] }) {
  return (
    <dl class="facts">
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
