/**
 * `parley quickstart`: one step from a running service to a `curl` that rings a phone, the emulator's or a real one, or
 * to a page in the browser at which one talks to an agent that converses.
 */
import { join } from 'node:path';
import { type Command, Option } from 'commander';
import { CARRIER_NAMES } from '../../media/contract/carriers.ts';
import { readAgent } from '../agents/stored-agents.ts';
import {
  EMULATED_ACCOUNT,
  EMULATED_CALLEE_NUMBER,
  EMULATED_CARRIER,
  EMULATED_LINE_NUMBER,
  EMULATOR_PORT,
} from '../carriers/emulated-account.ts';
import { apiBaseVariable, credentialOptions } from '../carriers/setting-names.ts';
import { packageRoot } from '../config/built-entry.ts';
import { type RuntimeFile, readRuntimeFile } from '../config/operator-settings.ts';
import { judgeDestination } from '../dialling/destination-rule.ts';
import { readDialPolicy } from '../dialling/dial-policy.ts';
import { OperatorError } from '../errors/operator-error.ts';
import type { Database } from '../store/database.ts';
import type { PhoneLine } from '../workspaces/lines.ts';
import { findWorkspace } from '../workspaces/workspaces.ts';
import { readJsonFile } from './agent-commands.ts';
import { type CredentialOptions, readCredentials, withCredentials } from './carrier-credentials.ts';
import type { CommandIo } from './command-io.ts';
import { checkOf } from './connection-commands.ts';
import { conversingAgent } from './conversing-agent.ts';
import { type QuickstartDone, type QuickstartWanted, quickstart } from './quickstart.ts';

interface Options extends CredentialOptions {
  carrier?: string;
  number?: string;
  to?: string;
  agent?: string;
}

const EMULATOR = 'emulator';
const NO_CARRIER = 'none';
const CONVERSING = 'cascade';
const DEFAULT_AGENT = 'bench/demo/agent.json';

export function addQuickstartCommand(program: Command, io: CommandIo): void {
  const carriers = [EMULATOR, ...CARRIER_NAMES, NO_CARRIER];
  withCredentials(
    program
      .command('quickstart [slug]')
      .description(
        'workspace (acme), agent, line and key in one step, and the curl of the first call or a page to talk at; again: makes nothing twice',
      )
      .addOption(
        new Option(
          '--carrier <name>',
          `who carries the calls (${EMULATOR}; of --agent ${CONVERSING}: ${NO_CARRIER}, one talks in the browser)`,
        ).choices(carriers),
      )
      .option('--number <number>', `the line's number at the carrier (the emulator: ${EMULATED_LINE_NUMBER})`)
      .option('--to <number>', `the phone that the curl rings (the emulator: ${EMULATED_CALLEE_NUMBER})`)
      .option(
        '--agent <file>',
        `its definition (default: the dentist of the demo), or '${CONVERSING}': one that converses, by the keys DEEPGRAM_API_KEY, OPENAI_API_KEY and ELEVENLABS_API_KEY of the environment`,
      ),
  ).action(async (slug: string | undefined, options: Options) => {
    const runtime = readRuntimeFile(join(io.settings().dataDir, 'runtime.json'));
    const converses = options.agent === CONVERSING;
    const carrier = options.carrier ?? (converses ? NO_CARRIER : EMULATOR);
    const { definition, connections } = converses
      ? await conversingAgent(io)
      : { definition: await definitionIn(options.agent), connections: [] };
    const line = await lineOf(io, carrier, options, runtime);
    const to = options.to ?? EMULATED_CALLEE_NUMBER;
    const done = await quickstart(io.database(), await io.sealer(), {
      slug: slug ?? 'acme',
      definition,
      connections,
      check: checkOf(io),
      line,
      page: converses || line === null,
      by: io.by(),
    });
    const baseUrl = (io.terminal.environment['PUBLIC_URL'] || runtime.publicUrl || 'http://127.0.0.1:8080').replace(
      /\/+$/,
      '',
    );
    const { agent, keyText, made, publicKey } = done;
    const page = publicKey === null ? null : `${baseUrl}/talk/${publicKey}/${agent.id}`;
    const lineId = done.line?.id ?? null;
    const shown = { slug: done.slug, agentId: agent.id, lineId, key: keyText, made, url: baseUrl, to, page };
    const call = done.line === null ? [] : await callLines(io.database(), done, done.line, baseUrl, to);
    const left = await leftLines(io.database(), done, definition, options.agent);
    io.print(shown, [
      ...madeLines(done),
      ...left,
      ...call,
      ...pageLines(page),
      '',
      `Then: npx parley call list ${done.slug}`,
    ]);
  });
}

async function definitionIn(file: string | undefined): Promise<{ name?: unknown }> {
  return (await readJsonFile(file ?? join(packageRoot(), DEFAULT_AGENT))) as { name?: unknown };
}

async function lineOf(
  io: CommandIo,
  carrier: string,
  options: Options,
  runtime: RuntimeFile,
): Promise<QuickstartWanted['line']> {
  if (carrier === NO_CARRIER) return null;
  return carrier === EMULATOR ? emulatedLine(options, runtime) : carriersLine(io, carrier, options);
}

function emulatedLine(options: Options, { carrierApiBase = {}, port }: RuntimeFile): QuickstartWanted['line'] {
  if (port !== undefined && carrierApiBase[EMULATED_CARRIER] === undefined) {
    throw new OperatorError(
      'refused',
      `The service that runs dials the real carrier, not an emulator. Start the emulator (npm run emulator), stop the service and start it with: ${apiBaseVariable(EMULATED_CARRIER)}=http://127.0.0.1:${EMULATOR_PORT} npm start. Or give your account: parley quickstart --carrier ${EMULATED_CARRIER} --number … --to … ${credentialOptions(EMULATED_CARRIER)}`,
    );
  }
  const number = options.number ?? EMULATED_LINE_NUMBER;
  return { number, carrier: EMULATED_CARRIER, credentials: { ...EMULATED_ACCOUNT } };
}

async function carriersLine(io: CommandIo, carrier: string, options: Options): Promise<QuickstartWanted['line']> {
  const { number, to } = options;
  if (number === undefined || to === undefined) {
    throw new OperatorError(
      'invalid',
      'A real carrier wants --number, a number of your account, and --to, a phone that may be rung.',
    );
  }
  const credentials = await readCredentials(io, carrier, options);
  return { number, carrier, credentials };
}

function curlOf({ slug, agent, keyText }: QuickstartDone, line: PhoneLine, baseUrl: string, to: string): string {
  const body = { to, agentId: agent.id, enterprise: slug, from: line.id, name: 'Asha' };
  return [
    `curl -i -X POST ${baseUrl}/api/outbound-call \\`,
    `  -H "Authorization: Bearer ${keyText ?? '$PARLEY_KEY'}" -H 'Content-Type: application/json' \\`,
    `  -d '${JSON.stringify(body)}'`,
  ].join('\n');
}

/** Where the workspace may not call `to`: how to allow it. */
async function dialAdvice(database: Database, slug: string, line: PhoneLine, to: string): Promise<string[]> {
  const { id: workspaceId } = await findWorkspace(database, slug);
  const policy = await readDialPolicy(database, workspaceId);
  const asked = { workspaceId, phone: to, lineNumber: line.number };
  const { refused, country, kinds } = await judgeDestination(database, policy, asked);
  if (refused === null) return [];
  const countries = country === null || policy.countries === null ? [] : [...policy.countries, country];
  const options = [
    countries.length === 0 ? '' : ` --countries ${[...new Set(countries)].join(',')}`,
    kinds.length === 0 ? '' : ` --kinds ${[...new Set([...policy.kinds, ...kinds])].join(',')}`,
  ];
  return [`(${to} is not allowed yet; first: npx parley dialling ${slug}${options.join('')})`, ''];
}

/** What there is now. */
function madeLines({ slug, agent, connections, line, made }: QuickstartDone): string[] {
  const state = (what: string): string => (made.includes(what) ? 'made' : 'was there');
  const lines = [`workspace ${slug} (${state('workspace')}), its API is on`];
  for (const name of connections)
    lines.push(
      `connection ${name} (${state(`connection ${name}`)}); try it: npx parley connection test ${slug} ${name}`,
    );
  lines.push(`agent     ${agent.id} '${agent.name}' (${state('agent')})`);
  if (line === null) return lines;
  const credentials = line.hasCredentials
    ? ''
    : `; it has no credentials yet: npx parley line credentials ${slug} ${line.id} …`;
  return [...lines, `line      ${line.id} ${line.number} at ${line.carrier} (${state('line')})${credentials}`];
}

/** What was there already stays as it is: how to change it, and where it differs from what the environment names. */
async function leftLines(
  database: Database,
  { slug, agent, connections, made }: QuickstartDone,
  wanted: { name?: unknown },
  file: string | undefined,
): Promise<string[]> {
  const kept = connections.filter((name) => !made.includes(`connection ${name}`));
  const lines = kept.map(
    (name) =>
      `connection ${name} was left as it is; change it: npx parley connection change ${slug} ${name} --key-file …`,
  );
  if (made.includes('agent')) return lines;
  const change = `npx parley agent import ${slug} ${file === undefined || file === CONVERSING ? '<file>' : file} --id ${agent.id}`;
  const [stored, named] = [
    modelsOf((await readAgent(database, { slug, agentId: agent.id })).definition),
    modelsOf(wanted),
  ];
  const other = stored === named ? '' : ` (it thinks with ${stored}; the environment names ${named})`;
  return [
    ...lines,
    `agent '${agent.name}' was left as it is${other}; change it: npx parley agent show ${slug} ${agent.id}, and ${change}`,
  ];
}

/** Empty: it thinks with none. */
function modelsOf(definition: object): string {
  const { think = [] } = definition as { think?: { model: string }[] };
  return think.map(({ model }) => model).join(', ');
}

/** The key, and how to call with it. */
async function callLines(
  database: Database,
  done: QuickstartDone,
  line: PhoneLine,
  baseUrl: string,
  to: string,
): Promise<string[]> {
  const { slug, keyText } = done;
  return [
    ...(keyText === null
      ? [
          'key       (was there) is shown once, when it is made. If it is lost, make another:',
          `          npx parley key create ${slug} --name another --scopes calls:write,calls:read`,
          '',
          'The call, after: export PARLEY_KEY=sv_live_…',
        ]
      : [`key       ${keyText} (made) is shown only now: keep it`, '', 'The call:']),
    '',
    ...(await dialAdvice(database, slug, line, to)),
    curlOf(done, line, baseUrl, to),
    '',
    'It as it happens, with the callUuid of the answer:',
    '',
    `curl -N ${baseUrl}/api/developer/calls/<callUuid>/events -H 'Accept: text/event-stream' -H "Authorization: Bearer ${keyText ?? '$PARLEY_KEY'}"`,
  ];
}

function pageLines(page: string | null): string[] {
  return page === null ? [] : ['', 'Talk to it in a browser, which asks for the microphone:', '', page];
}
