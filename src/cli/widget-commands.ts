/** `parley widget …`: public keys for web pages and the origins that may use them. */
import type { Command } from 'commander';
import { setWebSettings } from '../embed/web-settings.ts';
import {
  changeOrigins,
  createWidgetKey,
  listWidgetKeys,
  revokeWidgetKey,
  setWidgetKeyEnabled,
  type WidgetKey,
} from '../embed/widget-keys.ts';
import { type CommandIo, dateText, given, table, wholeNumber } from './command-io.ts';

export function addWidgetCommands(program: Command, io: CommandIo): void {
  const widget = program
    .command('widget')
    .description('public keys for voice on web pages, and where they may be used');

  widget
    .command('create <slug>')
    .description('make a public key; without an origin it is refused everywhere')
    .requiredOption('--name <name>', 'what people call it')
    .option('--allow <origin...>', 'https://example.com, https://*.example.com, http://localhost:3000')
    .action(async (slug: string, options: { name: string; allow?: string[] }) => {
      const made = await createWidgetKey(io.database(), {
        slug,
        name: options.name,
        allow: options.allow ?? [],
        by: io.by(),
      });
      io.print(made, [made.publicKey, originsText(made)]);
    });

  widget
    .command('list <slug>')
    .description('the keys of a workspace')
    .action(async (slug: string) => {
      const keys = await listWidgetKeys(io.database(), { slug });
      const rows = keys.map((key) => [key.publicKey, key.name, stateText(key), key.allowedOrigins.join(' ') || '-']);
      io.print(keys, table(['PUBLIC KEY', 'NAME', 'STATE', 'ORIGINS'], rows, 'There are no widget keys.'));
    });

  widget
    .command('allow <publicKey> <origins...>')
    .description('let pages of these origins use the key')
    .action(async (publicKey: string, origins: string[]) => {
      const key = await changeOrigins(io.database(), { publicKey, allow: origins, deny: [], by: io.by() });
      io.print(key, [originsText(key)]);
    });

  widget
    .command('deny <publicKey> <origins...>')
    .description('take origins off the list; running sessions go on')
    .action(async (publicKey: string, origins: string[]) => {
      const key = await changeOrigins(io.database(), { publicKey, allow: [], deny: origins, by: io.by() });
      io.print(key, [originsText(key)]);
    });

  for (const state of ['enable', 'disable'] as const) {
    widget
      .command(`${state} <publicKey>`)
      .description(state === 'enable' ? 'switch the key on' : 'switch the key off for now')
      .action(async (publicKey: string) => {
        const key = await setWidgetKeyEnabled(io.database(), {
          publicKey,
          enabled: state === 'enable',
          by: io.by(),
        });
        io.print(key, [`${key.publicKey} is ${stateText(key)}.`]);
      });
  }

  widget
    .command('revoke <publicKey>')
    .description('switch the key off for good')
    .action(async (publicKey: string) => {
      const key = await revokeWidgetKey(io.database(), { publicKey, by: io.by() });
      io.print(key, [`${key.publicKey} is ${stateText(key)}.`]);
    });

  widget
    .command('settings <slug>')
    .description("show how a workspace's web sessions are, or change what is given")
    .option('--seconds <seconds>', 'the longest session, 60 to 7200', wholeNumber)
    .option('--webhooks <on|off>', 'whether web sessions send call events')
    .action(async (slug: string, { seconds, webhooks }: { seconds?: number; webhooks?: string }) => {
      if (webhooks !== undefined && webhooks !== 'on' && webhooks !== 'off') {
        program.error(`error: --webhooks takes on or off, not '${webhooks}'`);
      }
      const wanted = given({
        sessionSeconds: seconds,
        webhooks: webhooks === undefined ? undefined : webhooks === 'on',
      });
      const settings = await setWebSettings(io.database(), { slug, settings: wanted, by: io.by() });
      io.print(settings, [
        `'${slug}': web sessions of at most ${settings.sessionSeconds} s; call events ${settings.webhooks ? 'on' : 'off'}`,
      ]);
    });
}

function stateText(key: WidgetKey): string {
  if (key.revokedAt !== null) return `revoked ${dateText(key.revokedAt)}`;
  return key.enabled ? 'enabled' : 'disabled';
}

function originsText({ publicKey, allowedOrigins }: WidgetKey): string {
  return allowedOrigins.length === 0
    ? `No page may use it yet; allow one with: parley widget allow ${publicKey} https://example.com`
    : `Allowed: ${allowedOrigins.join(' ')}`;
}
