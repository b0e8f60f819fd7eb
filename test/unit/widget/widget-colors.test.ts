import fc from 'fast-check';
import { expect, it } from 'vitest';
import { contrastOf, widgetColors } from '../../../src/embed/widget-colors.ts';

it('any colour of an owner can be read, on the light panel and on the dark one, and so can what is written on it', () => {
  const color = fc.integer({ min: 0, max: 0xff_ff_ff }).map((value) => `#${value.toString(16).padStart(6, '0')}`);
  fc.assert(
    fc.property(color, (chosen) => {
      const { light, dark } = widgetColors(chosen);
      expect(contrastOf(light.accent, '#ffffff')).toBeGreaterThanOrEqual(4.4);
      expect(contrastOf(dark.accent, '#1a1e22')).toBeGreaterThanOrEqual(4.4);
      for (const { accent, onAccent } of [light, dark]) {
        expect(contrastOf(accent, onAccent)).toBeGreaterThanOrEqual(4.4);
      }
    }),
  );
});

it('a colour that can be read stays as it is', () => {
  expect(widgetColors('#0f766e').light).toEqual({ accent: '#0f766e', onAccent: '#ffffff' });
  expect(widgetColors('#ffe600').light.accent).not.toBe('#ffe600');
  expect(widgetColors('#ffe600').dark).toEqual({ accent: '#ffe600', onAccent: '#061014' });
});
