import { describe, expect, it } from 'vitest';
import { type Turn, UNCLEAR_TEXT } from '../../../media/contract/conversation.ts';
import { type Analysis, analyse } from '../../../src/analysis/analyse.ts';
import { type CallStory, storyOf } from '../../../src/analysis/call-story.ts';
import { chatRequest } from '../../../src/analysis/chat-request.ts';
import { readByHeuristic } from '../../../src/analysis/heuristic/heuristic.ts';
import { readAnswer } from '../../../src/analysis/model-answer.ts';
import { transcriptOf } from '../../../src/webhooks/transcript.ts';
import { sampleCall } from '../webhooks/sample-call.ts';
import { CONFIRMED, DEMO_AGENT, GREETING, QUESTION, turnsOf } from './sample-story.ts';

const GUESS = 'you have the wrong number';

function unclearTurn(number: number, startMs: number): Turn {
  return {
    turnId: `t${number}`,
    role: 'user',
    startMs,
    endMs: startMs + 2_000,
    text: UNCLEAR_TEXT,
    heardText: UNCLEAR_TEXT,
    interrupted: false,
    kind: 'unclear',
    unclear: { guess: GUESS, confidence: 0.31 },
  };
}

function storyWith(turns: Turn[], agent = DEMO_AGENT): CallStory {
  return storyOf(sampleCall({ name: 'Dana' }), turns, agent, null);
}

const FREE = storyWith([...turnsOf([GREETING, QUESTION]), unclearTurn(3, 12_400), unclearTurn(5, 75_400)]);
const MIXED = storyWith([...turnsOf(CONFIRMED), unclearTurn(9, 31_000)]);

describe('a caller who said what the script did not expect', () => {
  it('is told of in the summary, with the times at which to listen', () => {
    expect(readByHeuristic(FREE).findings.summary).toContain(
      'The caller said things that the script did not expect (at 0:12, 1:15).',
    );
    const { summary } = readByHeuristic(MIXED).findings;
    expect(summary).toContain(
      'The caller also said “where can i park” and “no thank you goodbye”; the caller said things that the script did not expect (at 0:31).',
    );
    expect(summary).toMatch(/The agent ended the call\.$|The caller hung up\.$/);
  });

  it('of an agent without a script is told of as what was not understood, or as the fault of the recogniser', () => {
    const free = { ...FREE, hasScript: false };
    expect(readByHeuristic(free).findings.summary).toContain('The caller said things that were not understood (at');
    const turns = [...turnsOf([GREETING, QUESTION]), unclearTurn(3, 12_400)];
    const call = sampleCall({ warnings: [{ code: 'stt_error', key: 'ears', count: 3 }], endedReason: 'stt_error' });
    const { summary } = readByHeuristic(storyOf(call, turns, DEMO_AGENT, null)).findings;
    expect(summary).toContain('could not be recognised, because the recogniser failed (at 0:12).');
    expect(summary).toMatch(/ended because speech could not be recognised any more\.$/);
  });

  it('is told of after what a model says, however long that is', () => {
    const answer = { summary: `${'Dana comes. '.repeat(4)}${'x'.repeat(1_000)}`, intent: 'confirmed' };
    const reading = readAnswer(JSON.stringify(answer), MIXED, readByHeuristic(MIXED).findings, 'm-1');
    expect(reading).toMatchObject({
      findings: {
        summary: 'Dana comes. Dana comes. Dana comes. The caller said things that the script did not expect (at 0:31).',
      },
    });
  });

  it('decides nothing by what it may have been: no label, quote or value comes of a guess', () => {
    const data = { type: 'object', properties: { answer: { type: 'string', enum: ['unclear', 'wrong number'] } } };
    const agent = { ...DEMO_AGENT, analysis: { data } };
    const turns = [...turnsOf([GREETING, QUESTION]), unclearTurn(3, 12_400)];
    const { findings } = readByHeuristic(storyWith(turns, agent));
    expect(findings).toMatchObject({ intent: 'other', evidence: [], data: {}, successful: false });
  });

  it('is given to a model as words that were not understood, without the guess', () => {
    const body = JSON.stringify(chatRequest(MIXED, 'm-1', 'json_schema'));
    expect(body).toContain('[unclear]');
    expect(body).not.toContain(GUESS);
    expect(JSON.stringify(MIXED)).not.toContain(GUESS);
    expect(JSON.stringify(FREE)).not.toContain('0.31');
  });

  it('costs no model where nothing else was said', async () => {
    const model = new Proxy({}, { get: () => expect.fail('a model was asked') });
    const analysis: Analysis = await analyse({} as never, FREE, model as never);
    expect(analysis).toMatchObject({ modelFault: null, findings: { model: 'parley-heuristic-1' } });
  });

  it('stands in the transcript of webhooks, without the guess', () => {
    const transcript = transcriptOf([...turnsOf([QUESTION]), unclearTurn(2, 12_400)]);
    expect(transcript).toContain('[unclear]');
    expect(transcript).not.toContain(GUESS);
  });
});
