import { describe, expect, it } from 'vitest';
import { whyEnded } from '../../../widget/pages/talk/ends.ts';
import { partsOf } from '../../../widget/pages/talk/reply-parts.ts';
import { createCaptions } from '../../../widget/panel/captions.ts';

describe('the parts of a reply', () => {
  const message = { turnId: 't1', eouMs: 310, sttMs: 352, llmMs: 355, ttsMs: 470, agentMs: 492, heardMs: 560 };
  it('are the differences of figures that all count from the last sound, and add up to what was heard', () => {
    expect(partsOf(message)).toEqual([310, 42, 3, 115, 90]);
  });
  it('are never negative and need no figure but two', () => {
    expect(partsOf({ ...message, sttMs: null, llmMs: 200, ttsMs: null, heardMs: null })).toEqual([310, 0, 0, 182, 0]);
  });
});

describe('why a call was over', () => {
  it('is said in plain words, of a fault with where to look', () => {
    const callUuid = '0199f0a2-6c1e-7b7a-9a58-3f6b6f0a2c11';
    expect(whyEnded('tts_error', callUuid)).toBe(
      `The agent lost its voice: no speech could be made. The operator finds why in the call log, call ${callUuid}.`,
    );
    expect(whyEnded('stt_error', null)).toContain('The operator finds why in the call log as stt_error.');
    expect(whyEnded('agent_hangup', callUuid)).toBe('The agent hung up.');
    expect(whyEnded('user_hangup', callUuid)).toBe('You hung up.');
    for (const reason of ['api_hangup', 'operator_hangup'])
      expect(whyEnded(reason, callUuid)).toBe('The service ended it.');
  });
});

describe('captions', () => {
  it('append what the agent says, replace it by what was heard, and replace what the visitor said', () => {
    const captions = createCaptions();
    const agent = { role: 'agent', turnId: 't1', final: false } as const;
    captions.take({ ...agent, delta: 'Hello ' });
    expect(captions.take({ ...agent, delta: 'Asha.' })).toMatchObject({ line: { text: 'Hello Asha.' } });
    const heard = captions.take({ ...agent, text: 'Hello', final: true, interrupted: true });
    expect(heard.line).toMatchObject({ text: 'Hello', interrupted: true });
    captions.take({ role: 'user', turnId: 't2', text: 'I want', final: false });
    expect(captions.take({ role: 'user', turnId: 't2', text: 'I want to', final: true }).line.text).toBe('I want to');
  });
  it('keep one line a turn when turns come again after a resume', () => {
    const captions = createCaptions();
    const turn = { role: 'agent', turnId: 't1', text: 'Hello.', final: true } as const;
    captions.take(turn);
    captions.take(turn);
    expect(captions.take({ role: 'agent', turnId: 't1', delta: 'late', final: false }).line.text).toBe('Hello.');
    expect(captions.lines).toHaveLength(1);
  });
  it('stand in the order in which turns began, though the words of one come when a later one has begun', () => {
    const captions = createCaptions();
    captions.take({ role: 'agent', turnId: 't1', text: 'Hello.', final: true });
    const agent = captions.take({ role: 'agent', turnId: 't10', delta: 'Are', final: false });
    const user = captions.take({ role: 'user', turnId: 't9', text: 'yes please', final: true });
    expect(user.before).toBe(agent.line);
    expect(captions.take({ role: 'user', turnId: 't9', text: 'yes please', final: true }).before).toBe(null);
    expect(captions.take({ role: 'user', turnId: 't11', text: 'I am', final: false }).before).toBe(null);
    expect(captions.lines.map(({ turnId }) => turnId)).toEqual(['t1', 't9', 't10', 't11']);
  });
});
