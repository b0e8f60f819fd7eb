/**
 * The endpoint of the agent's tools in calls with sound: answers as the scenario says, and notes who asked what, when.
 * Made once a scenario file by `audio-holder.ts`; one call at a time uses it.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ToolDefinition } from '../../media/contract/tools.ts';
import { objectIn } from '../../media/engines/provider/told-json.ts';
import type { HeldToolUse } from './held-call.ts';
import type { ToolAnswers } from './scenario-schema.ts';
import { emulatedAnswer } from './tools-of-test.ts';

export interface NotedUse extends Omit<HeldToolUse, 'exchange'> {
  atEpochMs: number;
}

export interface AudioTools {
  /** The tools of the agent, at this endpoint: all but those that are asked for real. */
  at(tools: readonly ToolDefinition[]): ToolDefinition[];
  /** From now on another scenario's. */
  begin(answers: Readonly<Record<string, ToolAnswers>>): void;
  used(): readonly NotedUse[];
  close(): void;
}

export async function startAudioTools(real: (name: string) => boolean): Promise<AudioTools> {
  let answers: Readonly<Record<string, ToolAnswers>> = {};
  let noted: NotedUse[] = [];
  const known = new Map<string, ToolDefinition>();
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      const name = (request.url ?? '').slice(1);
      const body = objectIn(Buffer.concat(parts).toString('utf8'));
      const tool = known.get(name);
      const own = answers[name];
      if (tool === undefined || body === undefined || own === undefined || own === 'real') {
        response.writeHead(tool === undefined ? 404 : 400).end();
        return;
      }
      const args = (tool.argsAtRoot === true ? body : body['arguments']) as Record<string, unknown>;
      const { answer, afterMs } = emulatedAnswer(tool, own, args);
      noted.push({ name, arguments: args, answer, atEpochMs: Date.now() });
      setTimeout(() => {
        const head = { 'content-type': 'application/json' };
        if (answer.ok) response.writeHead(200, head).end(JSON.stringify(answer.result));
        else response.writeHead(500, head).end(JSON.stringify({ error: answer.code }));
      }, afterMs);
    });
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as AddressInfo;
  return {
    at(tools) {
      return tools.map((tool) => {
        if (real(tool.name) || tool.kind === 'client') return tool;
        known.set(tool.name, tool);
        const { headers: _secrets, ...others } = tool;
        return { ...others, url: `http://127.0.0.1:${port}/${tool.name}` };
      });
    },
    begin(own) {
      answers = own;
      noted = [];
    },
    used: () => noted,
    close: () => server.close(),
  };
}
