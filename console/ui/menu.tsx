/** A button that opens a short list of things to do: the browser's popover, which closes by itself. */
import type { ComponentChildren } from 'preact';
import { useId, useRef } from 'preact/hooks';
import { Icon, type IconName } from './icons.tsx';
import { toastError } from './toast.tsx';

export interface MenuItem {
  label: string;
  icon?: IconName;
  isDangerous?: boolean;
  href?: string;
  run?: () => unknown;
}

export function Menu(props: {
  label: string;
  button: ComponentChildren;
  items: readonly (MenuItem | null)[];
  class?: string;
}) {
  const id = useId();
  const list = useRef<HTMLDivElement>(null);
  const opener = useRef<HTMLButtonElement>(null);
  const items = props.items.filter((one) => one !== null);

  function place(): void {
    const from = opener.current!.getBoundingClientRect();
    const { style, offsetWidth, offsetHeight } = list.current!;
    const left = Math.min(from.left, innerWidth - offsetWidth - 8);
    const isBelow = from.bottom + offsetHeight + 8 < innerHeight;
    style.left = `${Math.max(8, left)}px`;
    style.top = `${isBelow ? from.bottom + 4 : Math.max(8, from.top - offsetHeight - 4)}px`;
  }
  function run(item: MenuItem): void {
    list.current?.hidePopover();
    const work = item.run?.();
    if (work instanceof Promise) work.catch(toastError);
  }
  function move(event: KeyboardEvent): void {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    const all = [...list.current!.querySelectorAll<HTMLElement>('a, button')];
    const at = all.indexOf(document.activeElement as HTMLElement);
    all[(at + step + all.length) % all.length]?.focus();
  }
  return (
    <>
      <button
        ref={opener}
        type="button"
        class={`button ${props.class ?? ''}`}
        popovertarget={id}
        aria-label={props.label}
        title={props.label}
      >
        {props.button}
      </button>
      <div
        ref={list}
        id={id}
        popover="auto"
        role="group"
        aria-label={props.label}
        class="menu"
        onKeyDown={move}
        onToggle={(event) => {
          if (event.newState !== 'open') return;
          place();
          list.current?.querySelector<HTMLElement>('a, button')?.focus();
        }}
      >
        {items.map((item) => {
          const inside = (
            <>
              {item.icon === undefined ? null : <Icon name={item.icon} />}
              <span>{item.label}</span>
            </>
          );
          const look = item.isDangerous === true ? 'item danger' : 'item';
          return item.href === undefined ? (
            <button key={item.label} type="button" class={look} onClick={() => run(item)}>
              {inside}
            </button>
          ) : (
            <a key={item.label} class={look} href={item.href} onClick={() => list.current?.hidePopover()}>
              {inside}
            </a>
          );
        })}
      </div>
    </>
  );
}
