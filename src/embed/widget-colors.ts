/**
 * One colour of a website's owner as the widget can use it, in the light and in the dark: made darker or lighter until
 * it stands out from the face behind it, with a colour for what is written on it. Contrast as WCAG 2.2 has it (§1.4.3,
 * §1.4.11). Pure.
 */

export interface WidgetColors {
  /** `#rrggbb` */
  accent: string;
  onAccent: string;
}

type Rgb = readonly [red: number, green: number, blue: number];

const WHITE: Rgb = [255, 255, 255];
const INK: Rgb = [6, 16, 20];
/** Of the panel, `widget/panel/panel.css`. */
const FACES = { light: WHITE, dark: [26, 30, 34] as Rgb };
/** Of words; what is drawn needs less. */
const LEAST_CONTRAST = 4.5;
const STEP = 0.06;

export function widgetColors(color: string): { light: WidgetColors; dark: WidgetColors } {
  return { light: shadeOf(color, FACES.light, INK), dark: shadeOf(color, FACES.dark, WHITE) };
}

function shadeOf(color: string, face: Rgb, towards: Rgb): WidgetColors {
  let shade = parsed(color);
  for (let tries = 0; contrast(shade, face) < LEAST_CONTRAST && tries < 1 / STEP; tries++) {
    shade = shade.map((part, at) => part + (towards[at]! - part) * STEP) as unknown as Rgb;
  }
  const onAccent = contrast(shade, WHITE) >= contrast(shade, INK) ? WHITE : INK;
  return { accent: written(shade), onAccent: written(onAccent) };
}

export function contrastOf(one: string, other: string): number {
  return contrast(parsed(one), parsed(other));
}

function contrast(one: Rgb, other: Rgb): number {
  const [low, high] = [luminance(one), luminance(other)].toSorted((a, b) => a - b) as [number, number];
  return (high + 0.05) / (low + 0.05);
}

function luminance([red, green, blue]: Rgb): number {
  const linear = (part: number): number => {
    const value = part / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  };
  return 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue);
}

function parsed(color: string): Rgb {
  return [1, 3, 5].map((at) => Number.parseInt(color.slice(at, at + 2), 16)) as unknown as Rgb;
}

const written = (rgb: Rgb): string => `#${rgb.map((part) => Math.round(part).toString(16).padStart(2, '0')).join('')}`;
