/**
 * A client's endpoint for a custom tool, as a client would write one: node:http, the signature verified, an answer.
 * With it, what it adds to the demo's agent: a visit is booked in the middle of the call, and the agent says what the
 * endpoint answered.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { AgentDefinition, ScriptedAgent, ScriptedStep } from '../../media/contract/agent-definition.ts';
import { isVerified } from './webhook-receiver.ts';

export interface BookingRequest {
  /** Signature good and at most five minutes old. */
  verified: boolean;
  body: { toolCallId: string; tool: string; arguments: { day: string }; call: { callUuid: string } };
}

export interface BookingEndpoint {
  url: string;
  received: readonly BookingRequest[];
  setSecret(secret: string): void;
  close(): void;
}

export async function startBookingEndpoint(): Promise<BookingEndpoint> {
  let secret = '';
  const received: BookingRequest[] = [];
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      const text = Buffer.concat(parts).toString('utf8');
      const verified = isVerified(secret, request.headers, text);
      received.push({ verified, body: JSON.parse(text) as BookingRequest['body'] });
      if (!verified) response.writeHead(401).end();
      else response.writeHead(200, { 'content-type': 'application/json' }).end('{"doctor":"Doctor Lee","time":"four"}');
    });
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/book`,
    received,
    setSecret(value) {
      secret = value;
    },
    close: () => server.close(),
  };
}

/** The demo's agent, but it books by `url` what the callee agrees to. */
export function bookingAgent(demo: AgentDefinition, url: string): ScriptedAgent {
  if (demo.kind !== 'scripted') throw new Error('the demo agent follows a script');
  const agent = structuredClone(demo);
  const step = (id: string): ScriptedStep => {
    const found = agent.steps.find((one) => one.id === id);
    if (found === undefined) throw new Error(`the demo agent has no step '${id}'`);
    return found;
  };
  const book = (id: string, day: string, goto: string): ScriptedStep => ({
    id,
    tool: { name: 'book_visit', arguments: { day }, saying: 'Very well, one moment.', goto, onError: goto },
  });
  step('confirm').replies!.find((reply) => reply.intent === 'confirmed')!.goto = 'book';
  for (const reply of step('reschedule').replies!) reply.goto = 'rebook';
  step('rebooked').say = 'Done. I have moved you to {{day}} at {{time | three}}.';
  step('details').say = `You will see {{doctor | one of our dentists}}. ${step('details').say}`;
  agent.steps.push(book('book', '{{appointment_day | Tuesday}}', 'details'), book('rebook', '{{day}}', 'rebooked'));
  agent.tools = [
    {
      name: 'book_visit',
      description: 'Books a visit on a day; answers with the dentist and the time.',
      url,
      parameters: { type: 'object', properties: { day: { type: 'string' } }, required: ['day'] },
      timeoutMs: 4_000,
      responseVariables: { doctor: '$.doctor', time: '$.time' },
    },
  ];
  return agent;
}
