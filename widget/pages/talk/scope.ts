/** Both voices as they sound: six seconds that run to the left, the agent above the line and the visitor below it. */
import type { LevelEvent } from '../../contract/ports.ts';
import { element } from '../../panel/elements.ts';

const SHOWN_S = 6;
const PER_S = 15;
const COLUMNS = SHOWN_S * PER_S;
/** Ordinary speech reaches two thirds of the height. */
const LEVEL_GAIN = 4.5;

export interface Scope {
  element: HTMLElement;
  level(event: LevelEvent): void;
  run(isLive: boolean): void;
  /** Another call. */
  clear(): void;
}

export function createScope(): Scope {
  const canvas = element('canvas', { 'aria-hidden': 'true' });
  const holder = element(
    'div',
    { class: 'scope' },
    element('div', { class: 'agent' }, element('b', {}, 'Agent')),
    canvas,
    element('div', { class: 'user' }, element('b', {}, 'You')),
  );
  const levels = { agent: new Float32Array(COLUMNS), user: new Float32Array(COLUMNS) };
  const latest = { agent: 0, user: 0 };
  const isStill = matchMedia('(prefers-reduced-motion: reduce)');
  let timer = 0;

  function draw(): void {
    const scale = devicePixelRatio || 1;
    const { clientWidth: width, clientHeight: height } = canvas;
    if (width === 0) return;
    canvas.width = width * scale;
    canvas.height = height * scale;
    const pen = canvas.getContext('2d')!;
    const css = getComputedStyle(document.documentElement);
    const colour = (name: string): string => css.getPropertyValue(name).trim();
    pen.scale(scale, scale);
    const middle = height / 2;
    const step = width / COLUMNS;
    const thick = Math.max(2, step * 0.56);
    pen.lineCap = 'round';
    pen.lineWidth = thick;
    const columns = isStill.matches ? 1 : COLUMNS;
    for (const [who, sign, name] of [
      ['agent', -1, '--accent'],
      ['user', 1, '--you'],
    ] as const) {
      for (let i = 0; i < columns; i++) {
        const level = Math.min(1, Math.sqrt(isStill.matches ? latest[who] : levels[who][i]!) * 1.05);
        const x = isStill.matches ? width / 2 : (i + 0.5) * step;
        pen.globalAlpha = isStill.matches ? 1 : 0.35 + (0.65 * i) / COLUMNS;
        pen.strokeStyle = level > 0.03 ? colour(name) : colour('--line');
        pen.beginPath();
        pen.moveTo(x, middle + sign * (thick / 2 + 1));
        pen.lineTo(x, middle + sign * (thick / 2 + 1 + Math.max(0.01, level) * (middle - thick - 4)));
        pen.stroke();
      }
    }
    pen.globalAlpha = 1;
  }

  function advance(): void {
    for (const who of ['agent', 'user'] as const) {
      levels[who].copyWithin(0, 1);
      levels[who][COLUMNS - 1] = latest[who];
    }
    draw();
  }

  new ResizeObserver(draw).observe(canvas);
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', draw);
  return {
    element: holder,
    level({ who, level }) {
      latest[who] = Math.min(1, level * LEVEL_GAIN);
    },
    run(isLive) {
      clearInterval(timer);
      if (isLive) timer = setInterval(advance, 1000 / PER_S) as unknown as number;
      else latest.agent = latest.user = 0;
      draw();
    },
    clear() {
      levels.agent.fill(0);
      levels.user.fill(0);
    },
  };
}
