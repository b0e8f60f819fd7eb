import { expect, test } from 'vitest';
import type { ClaimAnswer, ClaimRequest, ToControl } from '../../../../media/contract/link-messages.ts';
import { claimLeg } from '../../../../media/io/claim-leg.ts';

const REQUEST: ClaimRequest = { carrier: 'c', token: 't', url: '/media/c/t', host: 'h', headers: {} };
const GRANTED = { ok: true, setup: { callUuid: 'u', epoch: 2 } } as ClaimAnswer;
const REFUSED: ClaimAnswer = { ok: false, httpStatus: 410, why: 'it is over', code: 'session_over' };

const after = <Value>(_done: unknown, value: Value): Value => value;

/** What was done, in order; `isVacant`: an older stream of the call is over in time. */
async function claimed(answer: ClaimAnswer, isVacant: boolean) {
  const done: unknown[] = [];
  const told: ToControl[] = [];
  const outcome = await claimLeg(
    {
      link: { claim: async (request) => after(done.push(request), answer) },
      registry: {
        superseded: (callUuid) => void done.push(`superseded ${callUuid}`),
        vacate: async (callUuid) => after(done.push(`vacate ${callUuid}`), isVacant),
      },
      toControl: (message) => told.push(message),
    },
    REQUEST,
    ({ callUuid }) => after(done.push(`carry ${callUuid}`), 'the leg'),
  );
  return { outcome, done, told };
}

test('a granted claim ends the older stream of the call here, and then makes the leg', async () => {
  const { outcome, done, told } = await claimed(GRANTED, true);
  expect(outcome).toMatchObject({ leg: 'the leg', setup: { callUuid: 'u' } });
  expect(done).toEqual([REQUEST, 'superseded u', 'vacate u', 'carry u']);
  expect(told).toEqual([]);
});

test('an older stream that does not end in time: no leg, and control hears that this one has stopped', async () => {
  const { outcome, done, told } = await claimed(GRANTED, false);
  expect(outcome).toMatchObject({ leg: null, refusal: { httpStatus: 409 }, callUuid: 'u' });
  expect(done).not.toContain('carry u');
  expect(told).toMatchObject([{ type: 'media.stopped', callUuid: 'u', epoch: 2, why: 'failed' }]);
});

test('a refused claim touches no call', async () => {
  const { outcome, done, told } = await claimed(REFUSED, true);
  expect(outcome).toEqual({ leg: null, refusal: REFUSED });
  expect(done).toEqual([REQUEST]);
  expect(told).toEqual([]);
});
