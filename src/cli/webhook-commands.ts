/** `parley webhook …`: the one address that gets a workspace's call events. Its secret is printed once. */
import type { Command } from 'commander';
import { rotateWebhookSecret, setWebhook, showWebhook } from '../workspaces/webhooks.ts';
import { type CommandIo, dateText } from './command-io.ts';

const SHOWN_ONCE = 'Give it to the receiver now: it is stored sealed and cannot be shown again.';

export function addWebhookCommands(program: Command, io: CommandIo): void {
  const webhook = program.command('webhook').description('where call events are sent');

  webhook
    .command('set <slug>')
    .description('set the address and print its new signing secret, once')
    .requiredOption('--url <url>', 'https, or http inside WEBHOOK_ALLOW_CIDRS')
    .action(async (slug: string, options: { url: string }) => {
      const made = await setWebhook(io.database(), io.sealer(), { slug, url: options.url, by: io.by() });
      io.print({ ...made.endpoint, secret: made.secret }, [made.secret, SHOWN_ONCE]);
    });

  webhook
    .command('rotate <slug>')
    .description('make a new signing secret and print it, once; the old one signs too for 24 h')
    .action(async (slug: string) => {
      const made = await rotateWebhookSecret(io.database(), io.sealer(), { slug, by: io.by() });
      io.print({ ...made.endpoint, secret: made.secret }, [made.secret, SHOWN_ONCE]);
    });

  webhook
    .command('show <slug>')
    .description('the address and its state, without the secret')
    .action(async (slug: string) => {
      const endpoint = await showWebhook(io.database(), { slug });
      const { disabledAt, previousSecretUntil } = endpoint;
      io.print(endpoint, [
        endpoint.url,
        disabledAt === null ? 'enabled' : `disabled since ${dateText(disabledAt)}; set it again to enable it`,
        ...(previousSecretUntil === null ? [] : [`the old secret signs too until ${dateText(previousSecretUntil)}`]),
      ]);
    });
}
