/**
 * Line icons of one weight, drawn in the colour of the text. They say nothing to screen readers: words stand beside.
 */

const PATHS = {
  home: 'M3 10.5 12 3l9 7.5M5.5 9v11h13V9M10 20v-6h4v6',
  live: 'M12 12h.01M8.5 15.5a5 5 0 0 1 0-7M15.5 8.5a5 5 0 0 1 0 7M5.6 18.4a9 9 0 0 1 0-12.8M18.4 5.6a9 9 0 0 1 0 12.8',
  calls:
    'M21 16.4v2.7a2 2 0 0 1-2.2 2A19 19 0 0 1 3 5.2 2 2 0 0 1 5 3h2.7a1 1 0 0 1 1 .8l.8 3.4-2 2a15 15 0 0 0 7.3 7.3l2-2 3.4.8a1 1 0 0 1 .8 1Z',
  agents: 'M9 13v-2M15 13v-2M5 8h14v10a2 2 0 0 1-2 2H7a2 2 0 0 1-2-2V8ZM12 8V4M3 12v3M21 12v3',
  leads:
    'M16 20v-1.5a4 4 0 0 0-4-4H7a4 4 0 0 0-4 4V20M9.5 10.5a3.5 3.5 0 1 0 0-7 3.5 3.5 0 0 0 0 7M21 20v-1.5a4 4 0 0 0-3-3.9M15.5 3.7a3.5 3.5 0 0 1 0 6.7',
  settings:
    'M12 15a3 3 0 1 0 0-6 3 3 0 0 0 0 6ZM19.4 15a1.7 1.7 0 0 0 .3 1.8l.1.1a2 2 0 1 1-2.9 2.9l-.1-.1a1.7 1.7 0 0 0-2.8 1.2V21a2 2 0 1 1-4 0v-.1A1.7 1.7 0 0 0 7.2 19.7l-.1.1a2 2 0 1 1-2.9-2.9l.1-.1A1.7 1.7 0 0 0 3.1 14H3a2 2 0 1 1 0-4h.1a1.7 1.7 0 0 0 1.2-2.8l-.1-.1a2 2 0 1 1 2.9-2.9l.1.1A1.7 1.7 0 0 0 10 3.1V3a2 2 0 1 1 4 0v.1a1.7 1.7 0 0 0 2.8 1.2l.1-.1a2 2 0 1 1 2.9 2.9l-.1.1a1.7 1.7 0 0 0 1.2 2.8h.1a2 2 0 1 1 0 4h-.1a1.7 1.7 0 0 0-1.5 1Z',
  operator: 'M4 5h16v6H4zM4 13h16v6H4zM7.5 8h.01M7.5 16h.01',
  search: 'M11 18a7 7 0 1 0 0-14 7 7 0 0 0 0 14ZM20 20l-4-4',
  plus: 'M12 5v14M5 12h14',
  close: 'M6 6l12 12M18 6 6 18',
  check: 'm5 12.5 4.5 4.5L19 7',
  down: 'm6 9 6 6 6-6',
  right: 'm9 6 6 6-6 6',
  left: 'm15 6-6 6 6 6',
  more: 'M5 11v2M4 12h2M12 11v2M11 12h2M19 11v2M18 12h2',
  play: 'M7 4.5v15l12-7.5-12-7.5Z',
  pause: 'M7 5v14M17 5v14',
  hangUp:
    'M3.5 14.5c-1-1-1-2.6 0-3.6a12 12 0 0 1 17 0c1 1 1 2.6 0 3.6l-1 1a1.2 1.2 0 0 1-1.6.1l-2-1.5a1.2 1.2 0 0 1-.4-1.3l.4-1.3a11 11 0 0 0-7.8 0l.4 1.3a1.2 1.2 0 0 1-.4 1.3l-2 1.5a1.2 1.2 0 0 1-1.6-.1l-1-1Z',
  say: 'M4 5h16v11H9l-5 4V5Z',
  mute: 'M11 5 6.5 9H3v6h3.5l4.5 4V5ZM16 9.5l5 5M21 9.5l-5 5',
  sound: 'M11 5 6.5 9H3v6h3.5l4.5 4V5ZM15.5 9a4 4 0 0 1 0 6M18 6.5a8 8 0 0 1 0 11',
  download: 'M12 4v11M7.5 11l4.5 4.5 4.5-4.5M4 20h16',
  upload: 'M12 16V5M7.5 9.5 12 5l4.5 4.5M4 20h16',
  copy: 'M9 9h11v11H9zM5 15H4V4h11v1',
  link: 'M10 14a4 4 0 0 0 6 .4l3-3a4 4 0 0 0-5.7-5.7l-1.5 1.5M14 10a4 4 0 0 0-6-.4l-3 3a4 4 0 0 0 5.7 5.7l1.5-1.5',
  trash: 'M4 7h16M9 7V4h6v3M6 7l1 13h10l1-13M10 11v5M14 11v5',
  refresh: 'M20 11a8 8 0 1 0-.6 4M20 5v6h-6',
  sun: 'M12 16a4 4 0 1 0 0-8 4 4 0 0 0 0 8ZM12 2v2M12 20v2M4 12H2M22 12h-2M5 5l1.4 1.4M17.6 17.6 19 19M5 19l1.4-1.4M17.6 6.4 19 5',
  moon: 'M20 14.5A8.5 8.5 0 0 1 9.5 4a8.5 8.5 0 1 0 10.5 10.5Z',
  screen: 'M3 4h18v12H3zM9 20h6M12 16v4',
  menu: 'M4 7h16M4 12h16M4 17h16',
  out: 'M10 17l5-5-5-5M15 12H3M15 4h4a2 2 0 0 1 2 2v12a2 2 0 0 1-2 2h-4',
  warn: 'M12 9v4.5M12 17h.01M10.3 3.9 2.4 17.5A2 2 0 0 0 4.1 20.5h15.8a2 2 0 0 0 1.7-3L13.7 3.9a2 2 0 0 0-3.4 0Z',
  info: 'M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18ZM12 11v5M12 8h.01',
  outgoing: 'M7 17 17 7M9 7h8v8',
  incoming: 'M17 7 7 17M15 17H7V9',
  web: 'M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18ZM3 12h18M12 3c2.5 2.6 3.8 5.6 3.8 9S14.500 18.400 12 21c-2.500-2.600-3.800-5.600-3.800-9S9.500 5.600 12 3Z',
  voice: 'M9 13v-2M6 14v-4M12 17V7M15 14v-4M18 13v-2',
  lock: 'M8 11V8a4 4 0 0 1 8 0v3M5 11h14v9H5z',
  send: 'M4 12 20 4l-5 16-3.5-6.500L4 12Z',
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name, size = 16 }: { name: IconName; size?: number }) {
  return (
    <svg
      class="icon"
      width={size}
      height={size}
      viewBox="0 0 24 24"
      fill="none"
      stroke="currentColor"
      stroke-width="1.75"
      stroke-linecap="round"
      stroke-linejoin="round"
      aria-hidden="true"
      focusable="false"
    >
      <path d={PATHS[name]} />
    </svg>
  );
}
