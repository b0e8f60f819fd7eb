import { describe, expect, it } from 'vitest';
import { HEURISTIC_MODEL, readByHeuristic } from '../../../src/analysis/heuristic/heuristic.ts';
import { sampleAgent } from '../../support/sample-agent.ts';
import { CONFIRMED, GREETING, type Line, QUESTION, RESCHEDULED, story, turnsOf, WRONG_NUMBER } from './sample-story.ts';

const read = (...given: Parameters<typeof story>) => readByHeuristic(story(...given)).findings;
const withDefaultLabels = sampleAgent();

describe('the heuristic on calls of the demo', () => {
  it('a confirmed appointment', () => {
    expect(
      read(CONFIRMED, { disposition: 'confirmed', call: { endedReason: 'agent_hangup', hangupBy: 'agent' } }),
    ).toEqual({
      summary:
        'Paul of River Dental called Dana, who stayed on the line for 48 seconds. Asked “Can you still come at three in the afternoon?”, the caller said “yes please”. The caller also said “where can i park” and “no thank you goodbye”. The agent ended the call as “confirmed”.',
      intent: 'confirmed',
      intentConfidence: expect.closeTo(0.97, 2),
      sentiment: 'neutral',
      successful: true,
      successReason: "The call came out as 'confirmed'",
      data: {},
      language: 'en-US',
      disposition: 'confirmed',
      evidence: [{ turnId: 't3', quote: 'yes please' }],
      model: HEURISTIC_MODEL,
    });
  });

  it('one that was moved to Thursday is rescheduled, although the script ends both in the same step', () => {
    const found = read(RESCHEDULED, { disposition: 'confirmed', variables: { day: 'Thursday' } });
    expect(found).toMatchObject({ intent: 'rescheduled', successful: true, data: { day: 'Thursday' } });
    expect(found.summary).toContain('Noted: day Thursday');
  });

  it('tells what the script caught, and nothing of what tools answered under their own names', () => {
    const variables = {
      hour: 'four',
      'tool.book_courier.result': '{"hour":"four"}',
      'tool.book_courier.status': '200',
    };
    const found = read(RESCHEDULED, { disposition: 'confirmed', variables });
    expect(found.data).toEqual({ hour: 'four' });
    expect(found.summary).not.toContain('tool.');
  });

  it('a wrong number is no success', () => {
    const found = read(WRONG_NUMBER, { disposition: 'wrong_number' });
    expect(found).toMatchObject({ intent: 'wrong_number', successful: false, evidence: [{ turnId: 't3' }] });
    expect(found.intentConfidence).toBeGreaterThan(0.9);
  });

  it('who hangs up during the greeting has said nothing, and is not counted as confirmed', () => {
    const found = read([GREETING, QUESTION], { call: { endedReason: 'user_hangup', hangupBy: 'caller' } });
    expect(found).toMatchObject({ intent: 'other', successful: false, evidence: [] });
    expect(found.summary).toContain('nothing that was understood was said');
    expect(found.summary).toContain('The caller hung up');
  });
});

describe('the heuristic with the default labels', () => {
  const says = (...lines: string[]) =>
    read(
      [
        GREETING,
        ...lines.flatMap((text): Line[] => [
          ['user', text, 'said'],
          ['agent', 'I see.'],
        ]),
      ],
      {
        agent: withDefaultLabels,
        call: { endedReason: 'user_hangup' },
      },
    );

  it.each([
    ['stop calling me', 'do_not_call', 'negative'],
    ["Please don't call me again, this is ridiculous.", 'do_not_call', 'negative'],
    ['take me off your list', 'do_not_call', 'neutral'],
    ["I'm not interested, thanks", 'not_interested', 'neutral'],
    ['can you call me back later, I am driving right now', 'callback_requested', 'neutral'],
    ['sorry wrong number', 'wrong_number', 'neutral'],
    ["I'd like to book an appointment, that would be wonderful", 'book_appointment', 'positive'],
    ['please leave a message after the tone', 'voicemail', 'neutral'],
    ['what is the weather', 'other', 'neutral'],
  ])('“%s” is %s, %s', (text, intent, sentiment) => {
    expect(says(text)).toMatchObject({ intent, sentiment });
  });

  it('a call that reached a machine is voicemail, whatever was said', () => {
    const machine = read([GREETING], { agent: withDefaultLabels, call: { endedReason: 'voicemail_detected' } });
    expect(machine).toMatchObject({ intent: 'voicemail', successful: false });
  });

  it('"not happy" is not happy', () => {
    expect(says('i am not happy', 'this is awful').sentiment).toBe('negative');
    expect(says('i am happy', 'thank you').sentiment).toBe('positive');
  });
});

describe('what the agent asks of its analysis', () => {
  const data = {
    type: 'object',
    properties: {
      day: { type: 'string', enum: ['Wednesday', 'Thursday', 'Friday'] },
      guests: { type: 'integer' },
      order: { type: 'string' },
    },
  };
  const agent = sampleAgent({ analysis: { data, successIntents: ['done'] } });

  it('values that the script caught are put into the schema, and those that do not fit are named', () => {
    const found = readByHeuristic(
      story(CONFIRMED, { agent, variables: { guests: '4', order: '12 34', secret: 'x', day: 'Sunday' } }),
    );
    expect(found.findings.data).toEqual({ guests: 4, order: '12 34' });
    expect(found.dropped).toEqual(['day']);
  });

  it('a choice that the caller names is found without a variable', () => {
    expect(readByHeuristic(story(RESCHEDULED, { agent })).findings.data).toEqual({ day: 'Thursday' });
  });

  it('its success intents decide, against everything else', () => {
    expect(read(WRONG_NUMBER, { agent, disposition: 'done' }).successful).toBe(true);
    expect(read(CONFIRMED, { agent, disposition: 'confirmed' }).successful).toBe(false);
  });
});

it('2,000 turns are read in one summary of four sentences at most', () => {
  const lines = Array.from({ length: 1_000 }, (_each, index): Line[] => [
    ['agent', `Question ${index}? And more. And more!`],
    ['user', `Answer ${index}. It is. So? Yes.`, 'said'],
  ]).flat();
  const { summary } = read(lines);
  expect(summary.length).toBeLessThanOrEqual(1_000);
  expect(turnsOf(lines)).toHaveLength(2_000);
});
