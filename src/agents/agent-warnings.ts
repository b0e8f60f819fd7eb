/**
 * What is stored and will likely not do what it was meant to, of agents of every kind: told with the answer to an
 * import. Called by `check-agent.ts`, and for the workspace's secrets by `stored-agents.ts`.
 */
import type { CascadeAgent } from '../../media/contract/agent-definition.ts';
import type { ToolDefinition } from '../../media/contract/tools.ts';
import { type AgentFault, pathText, type Report } from '../errors/agent-faults.ts';
import type { Queryable } from '../store/database.ts';
import { secretNamesOf } from '../tools/header-template.ts';
import { listSecretsOf } from '../tools/secrets.ts';

/** Arguments that a schema requires and does not describe: a model is told of them by their name alone. */
export function toolWarnings(tools: readonly ToolDefinition[] = []): AgentFault[] {
  return tools.flatMap(({ parameters }, index) => {
    const { required, properties = {} } = (parameters ?? {}) as { required?: string[]; properties?: object };
    return (required ?? []).flatMap((name, place) =>
      Object.hasOwn(properties, name)
        ? []
        : [
            {
              path: pathText(['tools', index, 'parameters', 'required', place]),
              problem: `'${name}' is none of the schema's properties; describe it there, or correct its spelling`,
            },
          ],
    );
  });
}

/** Variables of tools are a script's: nothing ever gives them a value here. */
export function warnOfToolVariables({ script, firstMessage = '' }: CascadeAgent, warn: Report): void {
  for (const [at, text] of Object.entries({ script, firstMessage })) {
    for (const [whole] of text.matchAll(/\{\{\s*tool\.[^{}]*\}\}/g)) {
      warn(
        [at],
        `'${whole}' gets no value; the model is given a tool's answer itself, variables of tools are for scripted agents`,
      );
    }
  }
}

/** Secrets may come after the agent, and its tool answers with an error until they do. */
export async function missingSecrets(
  tx: Queryable,
  workspaceId: string,
  tools: readonly ToolDefinition[] = [],
): Promise<AgentFault[]> {
  const named = tools.flatMap(({ headers = {} }, index) =>
    Object.entries(headers).flatMap(([header, value]) =>
      secretNamesOf({ [header]: value }).map((secret) => ({
        path: pathText(['tools', index, 'headers', header]),
        secret,
      })),
    ),
  );
  if (named.length === 0) return [];
  const known = (await listSecretsOf(tx, workspaceId)).map(({ name }) => name);
  return named
    .filter(({ secret }) => !known.includes(secret))
    .map(({ path, secret }) => ({
      path,
      problem: `the workspace has no secret '${secret}' yet; set it with: parley secret set, or PUT /api/developer/secrets/${secret}`,
    }));
}
