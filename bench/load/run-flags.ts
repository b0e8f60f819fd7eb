/** The options of a run, as commander reads them, declared once with their meaning. Used by `run-command.ts`. */
import type { Command } from 'commander';
import { EMULATED_ACCOUNT } from '../../src/carriers/emulated-account.ts';
import { AGENT_KINDS } from './targets/parley/own-agents.ts';

export interface RunFlags {
  scenario: string;
  workload?: string;
  dryRun: boolean;
  seed?: string;
  url?: string;
  apiKey?: string;
  enterprise?: string;
  agent?: string;
  from?: string;
  to: string;
  carrierListen: string;
  carrierId: string;
  carrierToken: string;
  publicKey?: string;
  origin?: string;
  codec?: string;
  stream?: string;
  answerUrl?: string;
  answerMethod: string;
  protocol: string;
  header: string[];
  parameter: string[];
  authToken?: string;
  expectSignal: boolean;
  agentKind: string;
  socketServer?: string;
  against?: string;
  dataDir: string;
  webhookListen?: string;
  metrics?: string;
  metricsToken?: string;
  pid: string[];
  restartCommand?: string;
  failIf: string[];
  out: string;
  sound: boolean;
  limitMs: string;
  gapBufferMs: string;
  processes: string;
  iMayLoadThisTarget: boolean;
}

const each = (value: string, before: string[]): string[] => [...before, value];

export function addRunFlags(command: Command): Command {
  return command
    .option('--scenario <name>', 'a ready one: quick, steady, knee, burst, soak, deploy', 'quick')
    .option('--workload <file>', 'instead: a workload file of yours (docs/load-testing.md)')
    .option('--dry-run', 'show the schedule and call nobody', false)
    .option('--seed <n>', "another seed than the workload's")
    .option('--url <url>', 'a Parley by its address; without one the tool starts its own')
    .option('--api-key <key>', 'of a workspace, with the scope calls:write (or PARLEY_LOAD_API_KEY)')
    .option('--enterprise <slug>', 'the workspace')
    .option('--agent <id>', 'who talks')
    .option('--from <id>', 'the line that calls')
    .option('--to <numbers>', 'numbers to call, with a star for what tells calls apart', '+1415555*')
    .option('--carrier-listen <host:port>', "where the tool's carrier listens (port 0: a free one)", '127.0.0.1:4010')
    .option('--carrier-id <id>', 'of the account that the line has', EMULATED_ACCOUNT.authId)
    .option('--carrier-token <token>', 'its token', EMULATED_ACCOUNT.authToken)
    .option('--public-key <key>', 'browser sessions of the Parley at --url, by its widget key')
    .option('--origin <origin>', "whose page they are of; the key's list must hold it")
    .option('--codec <name>', 'of all browser sessions: pcm16, mulaw, opus')
    .option('--stream <url>', "any voice bot that takes a carrier's media stream: its ws:// or wss:// address")
    .option('--answer-url <url>', 'the same, by the URL at which a carrier asks it what to do')
    .option('--answer-method <method>', 'of that request: POST, GET', 'POST')
    .option('--protocol <name>', 'what the bot speaks: plivo, twilio', 'plivo')
    .option('--header <name:value>', '(repeatable) sent to the bot', each, [])
    .option('--parameter <name=value>', "(repeatable) of the stream's start", each, [])
    .option('--auth-token <token>', 'requests to the bot are signed with it, as the carrier does')
    .option('--expect-signal', 'the target plays the known signal: lost and repeated sound is looked for', false)
    .option('--agent-kind <kind>', `of the tool's own service: ${AGENT_KINDS.join(', ')}`, 'scripted')
    .option('--socket-server <kind>', "of the tool's own service: uws, ws")
    .option('--against <what>', 'for comparison: naive, a gateway as most are written, without an agent')
    .option('--data-dir <folder>', "of the tool's own service", 'data/bench/load')
    .option('--webhook-listen <host:port>', 'measure webhooks: have the deployment send them there')
    .option('--metrics <url>', 'of the target: its /metrics')
    .option('--metrics-token <token>', 'bearer token of it')
    .option('--pid <pid>', '(repeatable) processes of the target on this machine; name=pid names one', each, [])
    .option('--restart-command <command>', 'run at the restartsAtSeconds of the workload')
    .option('--fail-if <condition>', '(repeatable) exit with 1 where it is true: "reply.p95>900ms"', each, [])
    .option('--out <folder>', 'where JSON and HTML are written', 'data/bench')
    .option('--no-sound', 'keep no sound of the worst calls')
    .option('--limit-ms <n>', 'a tool that was later than that at p99 does not judge', '10')
    .option('--gap-buffer-ms <n>', "of the far ends' jitter buffer", '60')
    .option('--processes <n>', 'far-end processes', '1')
    .option('--i-may-load-this-target', 'for a target that is not this machine', false);
}
