/** Of every request and socket to a server of OpenAI's protocol. Pure. */
import type { ConnectionGrant } from '../../contract/grant.ts';

/** A key is absent where a server of one's own wants none. */
export function accountHeaders({ credentials, settings }: ConnectionGrant): Record<string, string> {
  const { apiKey } = credentials;
  const { organization, project } = settings;
  return {
    ...(apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` }),
    ...(typeof organization === 'string' ? { 'openai-organization': organization } : {}),
    ...(typeof project === 'string' ? { 'openai-project': project } : {}),
  };
}
