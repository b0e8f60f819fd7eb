/**
 * How the owner of the key has set the widget to look. Asked once a page; without an answer in time it looks as it
 * comes, because a visitor who has clicked must not wait for colours.
 */
import type { WidgetAppearance, WidgetWords } from '../../media/contract/widget-appearance.ts';
import type { StatusEvent, WidgetConfig } from '../contract/ports.ts';
import { ENGLISH } from './words.ts';

export interface Look extends WidgetAppearance {
  words: WidgetWords;
}

const PLAIN: WidgetAppearance = {
  name: null,
  colors: null,
  language: 'en',
  position: 'bottom-right',
  panel: 'none',
  typing: false,
  transcript: false,
  errorText: null,
  picture: null,
  texts: null,
};
const LIMIT_MS = 1_500;

export const lookOf = (shown: WidgetAppearance): Look => ({ ...shown, words: shown.texts ?? ENGLISH });

/** Never rejects. */
export async function readLook({ base, publicKey }: WidgetConfig): Promise<Look> {
  const asked = fetch(`${base}/embed/looks/${encodeURIComponent(publicKey)}`, { credentials: 'omit' })
    .then(async (answer) => (answer.ok ? ((await answer.json()) as WidgetAppearance) : PLAIN))
    .catch(() => PLAIN);
  const late = new Promise<WidgetAppearance>((resolve) => setTimeout(resolve, LIMIT_MS, PLAIN));
  return lookOf(await Promise.race([asked, late]));
}

/** Where it stands, and its colours: the sheet has the rest. */
export function applyLook(holder: HTMLElement, { position, colors }: Look): void {
  holder.dataset['at'] = position;
  for (const shade of ['light', 'dark'] as const) {
    for (const [name, value] of [
      ['accent', colors?.[shade].accent],
      ['on-accent', colors?.[shade].onAccent],
    ] as const) {
      if (value === undefined) holder.style.removeProperty(`--own-${name}-${shade}`);
      else holder.style.setProperty(`--own-${name}-${shade}`, value);
    }
  }
}

/** What a visitor reads of an error: what he can mend, or what the owner says of the rest. */
export function faultWords({ words, errorText }: Look, { code }: StatusEvent): string {
  const own = words.faults[code as keyof WidgetWords['faults']] as string | undefined;
  return own ?? errorText ?? words.faults.unavailable;
}

/**
 * The owner's picture, drawn: an image element would need an allowance in the page's policy. What cannot be drawn stays
 * away.
 */
export function pictureOf({ picture }: Look, sizePx: number): HTMLCanvasElement | null {
  const [, type = '', text = ''] = /^data:([^;]+);base64,(.+)$/.exec(picture ?? '') ?? [];
  if (text === '') return null;
  const canvas = document.createElement('canvas');
  canvas.width = canvas.height = sizePx * 2;
  canvas.className = 'picture';
  canvas.setAttribute('aria-hidden', 'true');
  const bytes = Uint8Array.from(atob(text), (one) => one.charCodeAt(0));
  createImageBitmap(new Blob([bytes], { type })).then(
    (image) => {
      const side = Math.min(image.width, image.height);
      const [left, top] = [(image.width - side) / 2, (image.height - side) / 2];
      canvas.getContext('2d')?.drawImage(image, left, top, side, side, 0, 0, canvas.width, canvas.height);
    },
    () => canvas.remove(),
  );
  return canvas;
}
