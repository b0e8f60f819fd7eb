import { expect, it } from 'vitest';
import { busySentence } from '../../../../bench/demo/busy-machine.ts';

it('a machine is busy above one and a half times its cores', () => {
  expect(busySentence(3, 2)).toBeNull();
  expect(busySentence(3.1, 2)).toMatch(
    /^The machine was busy \(load 3\.1 on 2 cores\), .* try again with less going on\.$/,
  );
  expect(busySentence(12, 1)).toContain('(load 12.0 on 1 core)');
});
