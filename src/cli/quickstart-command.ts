/**
 * `parley quickstart`: one step from a running service to a `curl` that rings a phone, the emulator's or a real one.
 */
import { join } from 'node:path';
import { type Command, Option } from 'commander';
import { CARRIER_NAMES } from '../../media/contract/carriers.ts';
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
import { findWorkspace } from '../workspaces/workspaces.ts';
import { readJsonFile } from './agent-commands.ts';
import { type CredentialOptions, readCredentials, withCredentials } from './carrier-credentials.ts';
import type { CommandIo } from './command-io.ts';
import { type QuickstartDone, type QuickstartWanted, quickstart } from './quickstart.ts';

interface Options extends CredentialOptions {
  carrier: string;
  number?: string;
  to?: string;
  agent?: string;
}

const EMULATOR = 'emulator';
const DEFAULT_AGENT = 'bench/demo/agent.json';

export function addQuickstartCommand(program: Command, io: CommandIo): void {
  const carriers = [EMULATOR, ...CARRIER_NAMES];
  withCredentials(
    program
      .command('quickstart [slug]')
      .description(
        'workspace (acme), agent, line and key in one step, and the curl of the first call; again: makes nothing twice',
      )
      .addOption(new Option('--carrier <name>', 'who carries the calls').choices(carriers).default(EMULATOR))
      .option('--number <number>', `the line's number at the carrier (the emulator: ${EMULATED_LINE_NUMBER})`)
      .option('--to <number>', `the phone that the curl rings (the emulator: ${EMULATED_CALLEE_NUMBER})`)
      .option('--agent <file>', 'its definition (default: the dentist of the demo)'),
  ).action(async (slug: string | undefined, options: Options) => {
    const runtime = readRuntimeFile(join(io.settings().dataDir, 'runtime.json'));
    const line = options.carrier === EMULATOR ? emulatedLine(options, runtime) : await carriersLine(io, options);
    const to = options.to ?? EMULATED_CALLEE_NUMBER;
    const definition = (await readJsonFile(options.agent ?? join(packageRoot(), DEFAULT_AGENT))) as { name?: unknown };
    const done = await quickstart(io.database(), await io.sealer(), {
      slug: slug ?? 'acme',
      definition,
      line,
      by: io.by(),
    });
    const baseUrl = (io.terminal.environment['PUBLIC_URL'] || runtime.publicUrl || 'http://127.0.0.1:8080').replace(
      /\/+$/,
      '',
    );
    const { agent, keyText, made } = done;
    const shown = { slug: done.slug, agentId: agent.id, lineId: done.line.id, key: keyText, made, url: baseUrl, to };
    const refused = await dialAdvice(io.database(), done, to);
    io.print(shown, linesOf(done, baseUrl, [...refused, curlOf(done, baseUrl, to)].join('\n')));
  });
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

async function carriersLine(io: CommandIo, options: Options): Promise<QuickstartWanted['line']> {
  const { carrier, number, to } = options;
  if (number === undefined || to === undefined) {
    throw new OperatorError(
      'invalid',
      'A real carrier wants --number, a number of your account, and --to, a phone that may be rung.',
    );
  }
  const credentials = await readCredentials(io, carrier, options);
  return { number, carrier, credentials };
}

function curlOf({ slug, agent, line, keyText }: QuickstartDone, baseUrl: string, to: string): string {
  const body = { to, agentId: agent.id, enterprise: slug, from: line.id, name: 'Asha' };
  return [
    `curl -i -X POST ${baseUrl}/api/outbound-call \\`,
    `  -H "Authorization: Bearer ${keyText ?? '$PARLEY_KEY'}" -H 'Content-Type: application/json' \\`,
    `  -d '${JSON.stringify(body)}'`,
  ].join('\n');
}

/** Where the workspace may not call `to`: how to allow it. */
async function dialAdvice(database: Database, { slug, line }: QuickstartDone, to: string): Promise<string[]> {
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

function linesOf({ slug, agent, line, keyText, made }: QuickstartDone, baseUrl: string, curl: string): string[] {
  const state = (what: string): string => (made.includes(what) ? 'made' : 'was there');
  const credentials = line.hasCredentials
    ? ''
    : `; it has no credentials yet: npx parley line credentials ${slug} ${line.id} …`;
  return [
    `workspace ${slug} (${state('workspace')}), its API is on`,
    `agent     ${agent.id} '${agent.name}' (${state('agent')})`,
    `line      ${line.id} ${line.number} at ${line.carrier} (${state('line')})${credentials}`,
    ...(keyText === null
      ? [
          'key       (was there) is shown once, when it is made. If it is lost, make another:',
          `          npx parley key create ${slug} --name another --scopes calls:write,calls:read`,
          '',
          'The call, after: export PARLEY_KEY=sv_live_…',
        ]
      : [`key       ${keyText} (made) is shown only now: keep it`, '', 'The call:']),
    '',
    curl,
    '',
    'It as it happens, with the callUuid of the answer:',
    '',
    `curl -N ${baseUrl}/api/developer/calls/<callUuid>/events -H 'Accept: text/event-stream' -H "Authorization: Bearer ${keyText ?? '$PARLEY_KEY'}"`,
    '',
    `Then: npx parley call list ${slug}`,
  ];
}
