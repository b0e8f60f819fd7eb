/** Which rule of a scenario answers, where it is for one of the models only. */
import { expect, test } from 'vitest';
import type { AskedQuestion } from '../../../../../bench/emulators/providers/mind/question.ts';
import { answerTo } from '../../../../../bench/emulators/providers/mind/rules.ts';
import { parseScenario } from '../../../../../bench/emulators/providers/mind/scenario.ts';

test('a rule for one model does not answer for another', () => {
  const scenario = parseScenario({
    models: ['first', 'second'],
    rules: [{ when: { model: 'first', user: 'hello' }, streamsNothing: true }],
    otherwise: { say: 'Fine.' },
  });
  const asked = (model: string) =>
    answerTo(scenario, {
      model,
      messages: [{ role: 'user', text: 'hello' }],
      tools: [],
      toolChoice: 'auto',
      responseFormat: { type: 'text' },
    } as unknown as AskedQuestion);
  expect(asked('first')).toMatchObject({ rule: '0', scripted: { streamsNothing: true } });
  expect(asked('second')).toMatchObject({ rule: 'otherwise', text: 'Fine.' });
});
