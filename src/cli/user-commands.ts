/** `parley user …`: people of the console, their roles, and one-time links. */
import { join } from 'node:path';
import type { Command } from 'commander';
import { readRuntimeFile } from '../config/operator-settings.ts';
import { OperatorError } from '../errors/operator-error.ts';
import {
  addMember,
  changeMember,
  LastOwner,
  listMembers,
  type Member,
  removeEverywhere,
  removeMember,
  roleOf,
} from '../users/memberships.ts';
import { linkAddress, makeFirstUserLink, makeLink, type NewLink } from '../users/one-time-links.ts';
import { removeOneTimePassword } from '../users/one-time-password.ts';
import { removePasskeys } from '../users/passkeys.ts';
import { listPeople, personMustExist, setOperator } from '../users/people.ts';
import { auditPerson } from '../users/sign-in.ts';
import { findWorkspace } from '../workspaces/workspaces.ts';
import { type CommandIo, dateText, table } from './command-io.ts';

export function addUserCommands(program: Command, io: CommandIo): void {
  const user = program
    .command('user')
    .description('people of the console: their roles, and links by which they come in');

  user
    .command('link')
    .description('print the link of the first user, who is an operator and owns all workspaces')
    .action(async () => {
      const link = await makeFirstUserLink(io.database());
      if (link !== null) return printLink(io, link, 'The first user signs up at:');
      const way = 'add one: parley user create <workspace> --email … --name … --role owner';
      throw new OperatorError('refused', 'There are users already, who invite others', way);
    });

  user
    .command('create <workspace>')
    .description('let somebody into a workspace, and print the link of who is new')
    .requiredOption('--email <email>', 'to sign in with')
    .requiredOption('--name <name>', 'what people call him or her')
    .option('--role <role>', 'owner, admin, supervisor or analyst', 'analyst')
    .option('--hears', 'an analyst who may listen to recordings')
    .action(async (slug: string, options: { email: string; name: string; role: string; hears?: boolean }) => {
      const workspaceId = await workspaceOf(io, slug);
      const { member, link } = await addMember(io.database(), {
        ...{ workspaceId, email: options.email, name: options.name, asking: null, askingUserId: null, by: io.by() },
        ...{ role: roleOf(options.role), hears: options.hears === true },
      });
      if (link !== null) return printLink(io, link, `${member.email} sets a password at:`);
      io.print(member, [`${member.email} is ${member.role} of '${slug}' too, and signs in as before.`]);
    });

  user
    .command('list [workspace]')
    .description('all people, or those of a workspace with their roles')
    .action(async (slug: string | undefined) => {
      if (slug !== undefined) {
        const members = await listMembers(io.database(), await workspaceOf(io, slug));
        const rows = members.map((one) => [one.email, one.name, one.role, stateOf(one), dateText(one.lastSeenAt)]);
        return io.print(members, table(['E-MAIL', 'NAME', 'ROLE', 'STATE', 'SEEN'], rows, 'There is nobody.'));
      }
      const people = await listPeople(io.database());
      const rows = people.map((one) => [
        one.email,
        one.name,
        one.isOperator ? 'operator' : '-',
        dateText(one.createdAt),
      ]);
      io.print(people, table(['E-MAIL', 'NAME', 'OPERATOR', 'SINCE'], rows, 'There is nobody; see: parley user link'));
    });

  user
    .command('role <workspace> <email> <role>')
    .description('give somebody another role; holds at once')
    .option('--hears', 'an analyst who may listen to recordings')
    .action(async (slug: string, email: string, role: string, options: { hears?: boolean }) => {
      const { id: userId } = await personMustExist(io.database(), email);
      const change = { workspaceId: await workspaceOf(io, slug), userId, asking: null, by: io.by() };
      const wanted = { ...change, role: roleOf(role), hears: options.hears === true };
      const changed = await unlessLast(changeMember(io.database(), wanted));
      if (changed === null) throw noMember(slug, email);
      io.print(changed, [`${email} is ${changed.role} of '${slug}' now.`]);
    });

  user
    .command('remove <email>')
    .description('let somebody in no more; holds at once')
    .option('--workspace <slug>', 'out of this workspace alone')
    .action(async (email: string, options: { workspace?: string }) => {
      const person = await personMustExist(io.database(), email);
      const by = io.by();
      if (options.workspace === undefined) {
        await unlessLast(removeEverywhere(io.database(), { userId: person.id, by }));
        return io.print(person, [`${email} is gone.`]);
      }
      const workspaceId = await workspaceOf(io, options.workspace);
      const change = { workspaceId, userId: person.id, asking: null, by };
      if (!(await unlessLast(removeMember(io.database(), change)))) throw noMember(options.workspace, email);
      io.print(person, [`${email} is no user of '${options.workspace}' any more.`]);
    });

  user
    .command('reset <email>')
    .description('print a link with which somebody sets a new password')
    .option('--remove-totp', 'ask for one-time passwords no more, of who has lost the device')
    .option('--remove-passkeys', 'forget the passkeys, of who has lost them or signs in at another address')
    .action(async (email: string, options: { removeTotp?: boolean; removePasskeys?: boolean }) => {
      const person = await personMustExist(io.database(), email);
      const link = await io.database().transaction(async (tx) => {
        if (options.removeTotp === true) await removeOneTimePassword(tx, person.id);
        if (options.removePasskeys === true) await removePasskeys(tx, person.id);
        const shown = { withoutTotp: options.removeTotp === true, withoutPasskeys: options.removePasskeys === true };
        await auditPerson(tx, person.id, io.by(), 'user.reset', shown);
        const purpose = person.hasPassword || person.passkeys > 0 ? 'reset' : 'invitation';
        return makeLink(tx, { purpose, userId: person.id, workspaceId: null, madeBy: null });
      });
      printLink(io, link, `${email} sets a new password at:`);
    });

  user
    .command('operator <email> <on|off>')
    .description('make somebody an operator of the whole installation, or no more; ends the sessions')
    .action(async (email: string, state: string) => {
      if (state !== 'on' && state !== 'off') program.error(`error: 'user operator' takes on or off, not '${state}'`);
      const changed = await setOperator(io.database(), { email, isOperator: state === 'on', by: io.by() });
      io.print(changed, [`${email} is ${changed.isOperator ? 'an' : 'no'} operator now.`]);
    });
}

const workspaceOf = async (io: CommandIo, slug: string): Promise<string> =>
  (await findWorkspace(io.database(), slug)).id;

function printLink(io: CommandIo, { token, expiresAt }: NewLink, head: string): void {
  const { PUBLIC_URL } = io.terminal.environment;
  const running = readRuntimeFile(join(io.settings().dataDir, 'runtime.json')).publicUrl;
  const base = (PUBLIC_URL || running || 'http://localhost:8080').replace(/\/+$/, '');
  const url = linkAddress(base.replace('//127.0.0.1', '//localhost'), token);
  io.print({ url, expiresAt }, [head, url, `It works once, until ${dateText(expiresAt)}.`]);
}

const stateOf = ({ isActive, totp, passkeys }: Member): string =>
  !isActive ? 'invited' : totp || passkeys > 0 ? 'two factors' : 'password';

const noMember = (slug: string, email: string): OperatorError =>
  new OperatorError('not_found', `'${email}' is no user of '${slug}'`, `see: parley user list ${slug}`);

async function unlessLast<Result>(work: Promise<Result>): Promise<Result> {
  try {
    return await work;
  } catch (error) {
    if (!(error instanceof LastOwner)) throw error;
    throw new OperatorError('refused', 'The last owner of a workspace stays; make somebody else one first.');
  }
}
