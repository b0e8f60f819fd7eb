/** `parley workspace …`: create, list, the API switch, limits. */
import type { Command } from 'commander';
import {
  createWorkspace,
  listWorkspaces,
  renameWorkspace,
  setApiEnabled,
  setWorkspaceLimits,
  type Workspace,
} from '../workspaces/workspaces.ts';
import { type CommandIo, given, table, wholeNumber } from './command-io.ts';

export function addWorkspaceCommands(program: Command, io: CommandIo): void {
  const workspace = program.command('workspace').description('workspaces, their API switch and their limits');

  workspace
    .command('create <slug>')
    .description('make a workspace; its API is off at first')
    .requiredOption('--name <name>', 'what people call it')
    .action(async (slug: string, options: { name: string }) => {
      const made = await createWorkspace(io.database(), { slug, name: options.name, by: io.by() });
      io.print(made, [`Made workspace '${slug}'. Switch its API on with: parley workspace api enable ${slug}`]);
    });

  workspace
    .command('rename <slug>')
    .description('change what people call it; its short name stays')
    .requiredOption('--name <name>', 'what people call it from now on')
    .action(async (slug: string, options: { name: string }) => {
      const renamed = await renameWorkspace(io.database(), { slug, name: options.name, by: io.by() });
      io.print(renamed, [`'${slug}' is called ${renamed.name} now.`]);
    });

  workspace
    .command('list')
    .description('all workspaces')
    .action(async () => {
      const all = await listWorkspaces(io.database());
      const rows = all.map((one) => [one.slug, one.name, one.apiEnabled ? 'on' : 'off', limitsText(one)]);
      io.print(all, table(['WORKSPACE', 'NAME', 'API', 'LIMITS'], rows, 'There are no workspaces.'));
    });

  workspace
    .command('api <enable|disable> <slug>')
    .description('switch API access on or off; off refuses every key within 2 s')
    .action(async (state: string, slug: string) => {
      if (state !== 'enable' && state !== 'disable') {
        program.error(`error: 'workspace api' takes enable or disable, not '${state}'`);
      }
      const changed = await setApiEnabled(io.database(), { slug, enabled: state === 'enable', by: io.by() });
      io.print(changed, [`API access of '${slug}' is ${changed.apiEnabled ? 'on' : 'off'}.`]);
    });

  workspace
    .command('limits <slug>')
    .description('show the limits, or change those that are given; 0 lets nothing through')
    .option('--concurrent <calls>', 'calls at once', wholeNumber)
    .option('--cps <calls>', 'new calls a second', wholeNumber)
    .option('--api-rps <requests>', 'API requests a second for each key', wholeNumber)
    .option('--api-burst <requests>', 'API requests at once for each key', wholeNumber)
    .option('--web <sessions>', 'browser sessions at once', wholeNumber)
    .option(
      '--reserved-phone <calls>',
      'of the calls at once, so many never go to browser sessions; half: the half of them, rounded up, of one none',
      (text) => (text === 'half' ? null : wholeNumber(text)),
    )
    .action(
      async (
        slug: string,
        options: {
          concurrent?: number;
          cps?: number;
          apiRps?: number;
          apiBurst?: number;
          web?: number;
          reservedPhone?: number | null;
        },
      ) => {
        const limits = given({
          concurrentCalls: options.concurrent,
          callsPerSecond: options.cps,
          apiRequestsPerSecond: options.apiRps,
          apiBurst: options.apiBurst,
          webSessions: options.web,
          reservedPhoneCalls: options.reservedPhone,
        });
        const changed = await setWorkspaceLimits(io.database(), { slug, limits, by: io.by() });
        io.print(changed, [`'${slug}': ${limitsText(changed)}`]);
      },
    );
}

function limitsText({ limits }: Workspace): string {
  return `${limits.concurrentCalls} calls at once, ${limits.callsPerSecond} new a second; API ${limits.apiRequestsPerSecond}/s, burst ${limits.apiBurst}; ${limits.webSessions} browser sessions, ${limits.reservedPhoneCalls} calls kept for the phone`;
}
