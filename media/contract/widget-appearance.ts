/**
 * How the widget looks and what it says, as the service gives it to a visitor's browser. Both sides are held to it: the
 * widget's own English, and every other language (`src/embed/widget-texts.ts`). Types only.
 */
export interface WidgetWords {
  close: string;
  captions: string;
  mute: string;
  muted: string;
  muteLabel: string;
  start: string;
  end: string;
  again: string;
  retry: string;
  connecting: string;
  reconnecting: string;
  connected: string;
  ended: string;
  failed: string;
  ready: string;
  lost: string;
  allow: string;
  listening: string;
  thinking: string;
  speaking: string;
  agent: string;
  you: string;
  micSilent: string;
  talk: string;
  cancel: string;
  type: string;
  send: string;
  transcript: string;
  copy: string;
  copied: string;
  /** `unavailable`: whatever a visitor cannot mend. */
  faults: Record<
    'mic_denied' | 'mic_missing' | 'rate_limited' | 'token_expired' | 'network' | 'unsupported_browser' | 'unavailable',
    string
  >;
}

/** As `GET /embed/looks/{publicKey}` gives it. */
export interface WidgetAppearance {
  name: string | null;
  colors: { light: WidgetAccent; dark: WidgetAccent } | null;
  language: string;
  position: 'bottom-right' | 'bottom-left' | 'top-right' | 'top-left';
  panel: 'none' | 'overlay' | 'docked';
  typing: boolean;
  transcript: boolean;
  errorText: string | null;
  /** `data:image/…;base64,…` */
  picture: string | null;
  texts: WidgetWords | null;
}

interface WidgetAccent {
  accent: string;
  onAccent: string;
}
