/** A client's endpoint for its agent's tools, as a client would write it: the signature verified, then an answer. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { isVerified } from './webhook-receiver.ts';

export interface ToolRequest {
  /** Signature good and at most five minutes old. */
  verified: boolean;
  body: { toolCallId: string; tool: string; arguments: Record<string, string>; call: { callUuid: string } };
}

export interface ToolEndpoint {
  url: string;
  received: readonly ToolRequest[];
  setSecret(secret: string): void;
  close(): void;
}

/** `answer` gives what a use of a tool is answered with. */
export async function startToolEndpoint(answer: (request: ToolRequest['body']) => object): Promise<ToolEndpoint> {
  let secret = '';
  const received: ToolRequest[] = [];
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      const text = Buffer.concat(parts).toString('utf8');
      const verified = isVerified(secret, request.headers, text);
      const body = JSON.parse(text) as ToolRequest['body'];
      received.push({ verified, body });
      if (!verified) response.writeHead(401).end();
      else response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer(body)));
    });
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/tools`,
    received,
    setSecret(value) {
      secret = value;
    },
    close: () => server.close(),
  };
}
