import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { ScriptedAgent } from '../../../media/contract/agent-definition.ts';
import { checkAgent } from '../../../src/agents/check-agent.ts';
import { loadLexicon } from '../../../src/agents/lexicon.ts';
import { faultLines } from '../../../src/errors/agent-faults.ts';

const lexicon = loadLexicon();

/** A sound agent of three steps; each test spoils a fresh copy. */
function soundAgent(): ScriptedAgent {
  return {
    kind: 'scripted',
    name: 'Paul',
    direction: 'outbound',
    language: 'en-US',
    voice: 'rms',
    script: 'You are Paul, calling {{customer_name}}.',
    greeting: 'Hello {{customer_name | there}}.',
    steps: [
      {
        id: 'ask',
        say: ['Can you come?', 'I said, can you come?'],
        expect: 'yesno',
        replies: [
          { intent: 'yes', phrases: ['yes', 'Yes, please!'], goto: 'bye' },
          { intent: 'number', phrases: ['my number is <digits>'], set: { digits: '$digits' }, goto: 'note' },
        ],
      },
      { id: 'note', say: 'Noted {{digits}}.', goto: 'bye' },
      { id: 'bye', say: 'Goodbye.', end: { reason: 'agent_hangup', disposition: 'done' } },
    ],
    fallback: { say: ['Sorry?'], after: 2, goto: 'bye' },
    idle: { promptAfterMs: 8000, say: ['Are you there?'], endAfterMs: 30000 },
  };
}

// biome-ignore lint/suspicious/noExplicitAny: spoiling a definition is the point
function faultsOf(spoil: (agent: any) => void): string[] {
  const agent = soundAgent();
  spoil(agent);
  const check = checkAgent(agent, lexicon);
  return check.ok ? [] : faultLines(check.faults);
}

describe('an agent with faults of every kind', () => {
  it('hears of all of them at once: no fault of its shape hides one of its meaning', () => {
    const faults = faultsOf((agent) => {
      agent.kind = 'script';
      agent.greting = 'Hello';
      agent.voice = 'nobody';
      agent.language = 5;
      agent.idle.endAfterMs = 900;
      agent.steps[0].replies[0].phrases[0] = 'xqzzt';
      agent.steps[0].replies[1].set.digits = '$nothing';
    });
    const paths = faults.map((fault) => fault.split(':')[0]);
    expect(paths.sort()).toEqual(
      [
        'greting',
        'idle.endAfterMs',
        'kind',
        'language',
        'steps[0].replies[0].phrases[0]',
        'steps[0].replies[1].set.digits',
        'voice',
      ].sort(),
    );
  });

  it('a misspelt field hides no target that does not exist', () => {
    const faults = faultsOf((agent) => {
      agent.colour = 'red';
      agent.steps[1].goto = 'nowhere';
    });
    expect(faults.some((fault) => fault.startsWith('colour: '))).toBe(true);
    expect(faults.some((fault) => fault.startsWith('steps[1].goto: '))).toBe(true);
  });

  it('any value in any place is told of and never thrown at', () => {
    const places: (string | number)[][] = [];
    const walk = (value: unknown, at: (string | number)[]): void => {
      if (at.length > 0) places.push(at);
      if (typeof value !== 'object' || value === null) return;
      for (const [key, one] of Object.entries(value)) walk(one, [...at, Array.isArray(value) ? Number(key) : key]);
    };
    walk(soundAgent(), []);
    expect(places.length).toBeGreaterThan(40);
    for (const at of places) {
      for (const value of [5, 'x', '', null, [], {}, [5], true]) {
        expect(() =>
          faultsOf((agent) => {
            agent.extra = 1;
            // biome-ignore lint/suspicious/noExplicitAny: as above
            const holder = at.slice(0, -1).reduce((one: any, part) => one[part], agent);
            holder[at.at(-1)!] = value;
          }),
        ).not.toThrow();
      }
    }
  });
});

describe('the check of an agent', () => {
  it('lets a sound script, a tone agent and the demo agent through', () => {
    expect(checkAgent(soundAgent(), lexicon)).toEqual({ ok: true, definition: soundAgent(), warnings: [] });
    expect(checkAgent({ kind: 'tone', name: 'T', direction: 'any', toneHz: 440 }, lexicon).ok).toBe(true);
    const demo = JSON.parse(readFileSync(new URL('../../../bench/demo/agent.json', import.meta.url), 'utf8'));
    const check = checkAgent(demo, lexicon);
    expect(check.ok ? [] : faultLines(check.faults)).toEqual([]);
  });

  // biome-ignore lint/suspicious/noExplicitAny: as above
  const rows: [string, (agent: any) => void, RegExp][] = [
    ['a kind that is unknown', (a) => (a.kind = 'robot'), /^kind: must be "scripted", "cascade" or "tone"$/],
    ['a misspelt field', (a) => (a.steps[1].gotoo = 'bye'), /^steps\[1\]\.gotoo: is no field of an agent/],
    ['a missing field', (a) => delete a.fallback.goto, /^fallback\.goto: is missing/],
    [
      'a wrong type',
      (a) => (a.steps[0].replies[1].phrases = 'x'),
      /^steps\[0\]\.replies\[1\]\.phrases: expected array/,
    ],
    ['no steps', (a) => (a.steps = []), /^steps: must hold at least one step$/],
    ['another language', (a) => (a.language = 'de-DE'), /^language: must be "en-US"/],
    [
      'a voice that is unknown',
      (a) => (a.voice = 'bob'),
      /^voice: 'bob' is no known voice; use one of slt, rms, awb, kal16$/,
    ],
    ['a call of 10 s at most', (a) => (a.maxDurationSeconds = 10), /^maxDurationSeconds: must be at least 30$/],
    [
      'a reply that goes nowhere',
      (a) => (a.steps[0].replies[0].goto = 'byee'),
      /^steps\[0\]\.replies\[0\]\.goto: there is no step 'byee'; the steps are ask, note, bye$/,
    ],
    ['a fallback that goes nowhere', (a) => (a.fallback.goto = 'x'), /^fallback\.goto: there is no step 'x'/],
    [
      'a doubled step id',
      (a) => a.steps.push({ id: 'note', say: 'x', goto: 'bye' }),
      /^steps\[3\]\.id: 'note' is already the id of steps\[1\]/,
    ],
    [
      'a step that nothing leads to',
      (a) => a.steps.push({ id: 'island', say: 'x', goto: 'bye' }),
      /^steps\[3\]: no way leads to step 'island'/,
    ],
    [
      'a step that never ends',
      (a) => {
        a.steps[1].goto = 'round';
        a.steps.push({ id: 'round', say: 'x', goto: 'note' });
      },
      /^steps\[1\]: step 'note' never leads to a step with 'end'/,
    ],
    [
      'a step that expects nothing and leads nowhere',
      (a) => {
        delete a.steps[1].goto;
        a.steps[1].expect = 'none';
      },
      /^steps\[1\]: expects "none" and leads nowhere/,
    ],
    [
      'a question without replies',
      (a) => {
        a.steps[1].expect = 'open';
      },
      /^steps\[1\]: waits for an answer but has no 'replies'/,
    ],
    ['a goto beside replies', (a) => (a.steps[0].goto = 'bye'), /^steps\[0\]\.goto: is never used/],
    ['an end beside a goto', (a) => (a.steps[2].goto = 'ask'), /^steps\[2\]\.goto: is never used/],
    [
      'a reason that ends no held call',
      (a) => (a.steps[2].end.reason = 'busy'),
      /^steps\[2\]\.end\.reason: 'busy' is no reason/,
    ],
    [
      'a word that the recogniser does not know',
      (a) => a.steps[0].replies[0].phrases.push('yes zorblax'),
      /^steps\[0\]\.replies\[0\]\.phrases\[2\]: the recogniser does not know the word 'zorblax'/,
    ],
    [
      'a digit in a phrase',
      (a) => a.steps[0].replies[0].phrases.push('at 3'),
      /phrases\[2\]: '3' holds a digit; write it as it is spoken/,
    ],
    [
      'a class that is unknown',
      (a) => a.steps[0].replies[0].phrases.push('on <date>'),
      /phrases\[2\]: '<date>' is no class/,
    ],
    ['a phrase without words', (a) => a.steps[0].replies[0].phrases.push('…'), /phrases\[2\]: '…' holds no word/],
    [
      'one phrase in two replies',
      (a) => a.steps[0].replies[1].phrases.push('YES'),
      /replies\[1\]\.phrases\[1\]: 'YES' is already replies\[0\]\.phrases\[0\]/,
    ],
    [
      'one intent in two replies',
      (a) => (a.steps[0].replies[1].intent = 'yes'),
      /replies\[1\]\.intent: 'yes' is already/,
    ],
    [
      'digits of a phrase without them',
      (a) => (a.steps[0].replies[0].set = { d: '$digits' }),
      /replies\[0\]\.set\.d: '\$digits' stays empty/,
    ],
    ['an unknown $ value', (a) => (a.steps[0].replies[0].set = { d: '$hread' }), /set\.d: '\$hread' is unknown/],
    [
      'a placeholder with a bad key',
      (a) => (a.greeting = 'Hello {{ 1st name }}.'),
      /^greeting: '\{\{ 1st name \}\}' is no placeholder/,
    ],
    [
      'braces that do not pair',
      (a) => (a.steps[0].say[1] = 'Hi {{name'),
      /^steps\[0\]\.say\[1\]: has '\{\{' and '\}\}' that do not pair/,
    ],
    [
      'a secret that would be spoken',
      (a) => (a.steps[1].say = '{{secret.pin}}'),
      /^steps\[1\]\.say: .* secret\.\* keys are for the headers of tools only$/,
    ],
    [
      'an idle end before its prompt',
      (a) => (a.idle.endAfterMs = 8000),
      /^idle\.endAfterMs: must be more than idle\.promptAfterMs \(8000\)$/,
    ],
  ];
  for (const [what, spoil, expected] of rows) {
    it(`names ${what} by its path`, () => {
      expect(faultsOf(spoil)).toContainEqual(expect.stringMatching(expected));
    });
  }

  it('lists faults of different kinds all at once', () => {
    const faults = faultsOf((agent) => {
      agent.voice = 'bob';
      agent.fallback.goto = 'x';
      agent.steps[0].replies[0].phrases.push('zorblax');
    });
    expect(faults).toHaveLength(3);
  });

  it('takes anything that is no object as one fault, without a throw', () => {
    for (const json of [null, 1, 'x', [], {}]) expect(checkAgent(json, lexicon).ok).toBe(false);
  });
});

describe('the lexicon', () => {
  it('knows words as they are spoken, and nothing that only looks like an entry', () => {
    for (const word of ['yes', "i'm", 'okay', 'paul', 'zero']) expect(lexicon.knows(word), word).toBe(true);
    for (const word of ['zorblax', 'paul p', 'a(2)', ';;', '', 'afternoo'])
      expect(lexicon.knows(word), word).toBe(false);
  });
});
