/** Agents that converse at the import: the one of the documentation is taken, faults are named by their path. */
import { readFileSync } from 'node:fs';
import { describe, expect, it, test } from 'vitest';
import type { CascadeAgent } from '../../../media/contract/agent-definition.ts';
import { checkAgent } from '../../../src/agents/check-agent.ts';
import { loadLexicon } from '../../../src/agents/lexicon.ts';
import { faultLines } from '../../../src/errors/agent-faults.ts';

const lexicon = loadLexicon();
const documented = /```json\n([\s\S]*?)```/.exec(readFileSync('docs/cascade.md', 'utf8'))![1]!;
const sound = (): CascadeAgent => JSON.parse(documented) as CascadeAgent;

// biome-ignore lint/suspicious/noExplicitAny: spoiling a definition is the point
type Spoil = (agent: any) => void;

function faultsOf(spoil: Spoil): string[] {
  const agent = sound();
  spoil(agent);
  const check = checkAgent(agent, lexicon);
  return check.ok ? [] : faultLines(check.faults);
}

it('takes the agent of the documentation, and the least that there can be', () => {
  expect(faultsOf(() => {})).toEqual([]);
  const { kind, schema, name, direction, language, script, think, listen, speak } = sound();
  expect(checkAgent({ kind, schema, name, direction, language, script, think, listen, speak }, lexicon).ok).toBe(true);
});

describe('a fault is named by its path', () => {
  test.each<[Spoil, string]>([
    [(agent) => (agent.schema = 2), 'schema: must be 1, the version of this shape'],
    [(agent) => (agent.think = []), 'think: must hold at least one model'],
    [(agent) => delete agent.think[0].connection, 'think[0].connection: is missing'],
    [(agent) => (agent.think[1] = { ...agent.think[0] }), "think[1]: asks 'gpt-5-mini' of 'openai' a second time"],
    [(agent) => (agent.think[0].temperature = 3), 'think[0].temperature: must be at most 2'],
    [(agent) => delete agent.listen.connection, "listen.connection: is missing; 'deepgram' is used by a connection"],
    [(agent) => (agent.speak[1].connection = 'x'), 'speak[1].connection: means nothing to the local engine'],
    [(agent) => (agent.language = 'de'), 'speak[1].engine: is the local one, which knows English only'],
    [(agent) => (agent.language = 'German'), 'language: must be a language tag'],
    [(agent) => (agent.script = 'Hello {{customer name}}'), "script: '{{customer name}}' is no placeholder"],
    [(agent) => (agent.firstMessage = '{{secret.KEY}}'), "firstMessage: '{{secret.KEY}}' would be spoken"],
    [(agent) => (agent.speaksFirst = 'caller'), 'speaksFirst: is "caller", and there is a firstMessage'],
    [(agent) => (agent.filler.say[1] = 'One moment, {{customer_name}}.'), 'filler.say[1]: holds a placeholder'],
    [(agent) => (agent.filler.afterMs = 2_000), 'filler.afterMs: must be at most 1500'],
    [(agent) => (agent.tools[0].name = 'end_call'), "tools[0].name: 'end_call' is the name of a built-in tool"],
    [(agent) => delete agent.tools[0].description, 'tools[0].description: is missing'],
    [(agent) => (agent.tools[0].url = 'ftp://x'), 'tools[0].url: must begin with https://'],
    [(agent) => (agent.tools[0].speakDuring = ['{{x}}']), 'tools[0].speakDuring[0]: holds a placeholder'],
    [
      (agent) => (agent.builtInTools = ['fly']),
      'builtInTools[0]: must be one of end_call, send_digits, mark_do_not_call',
    ],
    [(agent) => (agent.idle.endAfterMs = 8_000), 'idle.endAfterMs: must be more than idle.promptAfterMs (8000)'],
    [(agent) => (agent.patience = { minMs: 900, maxMs: 500 }), 'patience.maxMs: must be at least patience.minMs (900)'],
    [
      (agent) => (agent.listen.engine = 'whisper'),
      "listen.engine: 'whisper' is no engine that can listen; there are local, deepgram, deepgram-flux, assemblyai",
    ],
    [(agent) => (agent.speak[0].engine = 'polly'), "speak[0].engine: 'polly' is no engine that can speak; there are"],
    [(agent) => (agent.think[0].engine = 'x'), "think[0].engine: 'x' is no engine that can think; there are openai"],
    [
      (agent) => (agent.speak[1].voice = 'anna'),
      "speak[1].voice: 'anna' is no voice of 'local'; use one of slt, rms, awb, kal16",
    ],
    [
      (agent) => (agent.speak[0].settings = { stabilty: 0.5 }),
      "speak[0].settings.stabilty: is no setting of 'elevenlabs'; it has stability, similarityBoost, style, speed",
    ],
    [(agent) => (agent.speak[0].settings = { speed: 2 }), 'speak[0].settings.speed: must be a number from 0.7 to 1.2'],
    [(agent) => (agent.listen.settings = { numerals: 'yes' }), 'listen.settings.numerals: must be true or false'],
    [(agent) => (agent.think[0].settings = { topP: 3 }), 'think[0].settings.topP: must be a number from 0 to 1'],
    [
      (agent) => {
        agent.language = 'de';
        agent.speak.pop();
        agent.listen = { engine: 'deepgram-flux', connection: 'deepgram', model: 'flux-general-en' };
      },
      "listen.model: 'flux-general-en' knows English only, and the language is de",
    ],
    [
      (agent) => {
        agent.listen = { engine: 'assemblyai', connection: 'ears', settings: { mode: 'fast' } };
      },
      'listen.settings.mode: must be one of min_latency, balanced, max_accuracy',
    ],
    [
      (agent) => {
        const settings = { minTurnSilenceMs: 900, maxTurnSilenceMs: 800 };
        agent.listen = { engine: 'assemblyai', connection: 'ears', settings };
      },
      'listen.settings.minTurnSilenceMs: must not be above maxTurnSilenceMs (800)',
    ],
    [(agent) => (agent.analysis = { data: { type: 'array' } }), 'analysis.data'],
    [(agent) => (agent.steps = []), 'steps: is no field of an agent'],
    [(agent) => delete agent.kind, 'kind: must be "scripted", "cascade" or "tone"'],
  ])('%s', (spoil, line) => {
    const faults = faultsOf(spoil);
    expect(faults.some((fault) => fault.startsWith(line))).toBe(true);
    expect(faults.length).toBeLessThanOrEqual(2);
  });
});

it('warns of what is stored all the same', () => {
  const agent = sound();
  agent.script += ' They ordered {{ tool.lookup_order.result | nothing }}.';
  agent.tools![0]!.parameters = { type: 'object', properties: { order: { type: 'string' } }, required: ['ordr'] };
  agent.listen = { engine: 'deepgram-flux', connection: 'deepgram', model: 'flux-general-en' };
  agent.otherLanguages = ['es'];
  const check = checkAgent(agent, lexicon);
  expect(check.ok ? faultLines(check.warnings) : check.faults).toEqual([
    expect.stringMatching(/^script: '\{\{ tool\.lookup_order\.result \| nothing \}\}' gets no value/),
    expect.stringMatching(/^listen\.model: 'flux-general-en' hears none of otherLanguages/),
    expect.stringMatching(/^tools\[0\]\.parameters\.required\[0\]: 'ordr' is none of the schema's properties/),
  ]);
});

it('without a kind, what thinks is judged as one that converses', () => {
  const faults = faultsOf((agent) => {
    delete agent.kind;
    agent.greting = 'Hello';
  });
  expect(faults.map((fault) => fault.split(':')[0]).sort()).toEqual(['greting', 'kind']);
});
