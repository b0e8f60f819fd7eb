/** `npm run bench -- <scenario> [options]`: builds if needed and runs `bench/<scenario>/main.ts`. */
import { runScenario } from './scenarios.mjs';

await runScenario({
  command: 'npm run bench',
  folder: 'bench',
  scenarios: {
    load: 'load any deployment, browser sessions or a voice bot of yours, and look at what their callers heard',
    density: 'calls a core and memory a call for each kind of agent and codec, and what limits each: docs/density.md',
    calls: 'what a call costs, against a naive gateway',
    codecs: 'base64 and G.711 beside Buffer and other ways',
    voices: 'what telling voices from noise costs, with and without the neural model',
    live: 'what a web session costs, PCM beside Opus',
    api: 'how fast a call is placed at 200 requests a second',
    'first-word': 'from the answer to the first word of the agent',
    database: 'what a call costs PostgreSQL and control: commits, statements, log, processor time',
    rotation: 'the master key changes under calls, with 100,000 sealed values and two kills',
    overload: 'more leads than the machine can talk to: who is refused, does an answered call die?',
    siege: 'hostile clients at the public port: do honest ones, probes, callbacks and calls notice?',
    race: 'Parley beside LiveKit, Pipecat and a plain cascade: conversations a core, CPU, replies, interruptions',
    turns: 'how long a caller waits for an answer, and how often it comes into their sentence',
    cascade: 'free conversations at once against emulated providers: own share of a reply, interruptions, what is left',
    'call-log': 'a page of the call log among a million calls',
    console: 'what people at the console wait for, in a real Chromium: 100,000 calls, 500 live ones, sound and words',
    webhooks: 'from the commit of an event to its receiver, with and without 50 that hang',
    alerts: 'each alert of deploy/prometheus fires, each query of the dashboard has an answer, in a real Prometheus',
    cluster: 'nodes behind a balancer: killed, cut off, drained under conversations; is a call lost?',
    'webhooks-beside': 'the same, of two gateways at once: beside 50 that answer, and beside 50 that hang',
  },
  // The faults and the checker are those of `npm run fault`.
  elsewhere: { cluster: 'test/fault' },
  moved: Object.fromEntries(
    ['chaos', 'history', 'placements', 'fuzz'].map((scenario) => [scenario, `npm run fault -- ${scenario}`]),
  ),
});
