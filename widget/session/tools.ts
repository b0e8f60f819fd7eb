/**
 * Tools that the page offers to the agent: `ServiceVoice.tool(name, handler)`. An agent never
 * waits for one that is not there.
 */
import type { ToolHandler } from '../contract/ports.ts';
import type { ServerMessage } from './wire.ts';

export async function answerTool(
  tools: ReadonlyMap<string, ToolHandler>,
  call: ServerMessage,
  send: (message: object) => void,
): Promise<void> {
  const { toolCallId, name = '' } = call;
  const answer = (outcome: object): void => send({ type: 'tool.result', toolCallId, ...outcome });
  const handler = tools.get(name);
  if (handler === undefined) return answer({ error: `this page has no tool ${name}` });
  try {
    answer({ result: (await handler(call.arguments)) ?? null });
  } catch (error) {
    answer({ error: error instanceof Error ? error.message : 'failed' });
  }
}
