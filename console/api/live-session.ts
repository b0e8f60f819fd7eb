/**
 * A typed conversation with an agent, as a visitor of a website has one: a token of the embed session, then `/ws/live`
 * without a microphone (docs/live-protocol.md). What the agent says is played by nobody and told as words.
 */
import { createParleyClient } from '../../clients/typescript/src/client.ts';

export interface Said {
  turnId: string;
  role: 'agent' | 'user';
  text: string;
  isFinal: boolean;
  isCut: boolean;
  /** Of the agent: from the end of what was typed to the first sound. */
  replyMs: number | null;
}

export interface LiveSession {
  send(text: string): void;
  end(): void;
}

export interface LiveEvents {
  opened(callUuid: string): void;
  said(said: readonly Said[]): void;
  /** `null`: as it should. */
  ended(problem: string | null): void;
}

type Message = Record<string, unknown> & { type: string };

/** Rejects with the service's refusal where there is no session to be had. */
export async function openTextSession(
  given: { publicKey: string; agentId: string },
  events: LiveEvents,
): Promise<LiveSession> {
  const parentOrigin = location.origin;
  const client = createParleyClient({ baseUrl: '', fetch: (path, init) => fetch(path, init) });
  const { data } = await client.createEmbedSession({ body: { ...given, parentOrigin } });
  const query = new URLSearchParams({ token: data.token, parentOrigin });
  const socket = new WebSocket(`${location.origin.replace(/^http/, 'ws')}/ws/live?${query}`);
  socket.binaryType = 'arraybuffer';
  const turns = new Map<string, Said>();
  let hasEnded = false;
  let sentAtMs: number | null = null;

  const send = (message: Message): void => {
    if (socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify(message));
  };
  const end = (problem: string | null): void => {
    if (hasEnded) return;
    hasEnded = true;
    events.ended(problem);
  };
  const put = (said: Said): void => {
    const key = `${said.role} ${said.turnId}`;
    if (said.text === '' && said.isFinal) turns.delete(key);
    else turns.set(key, said);
    events.said([...turns.values()].toSorted((a, b) => orderOf(a) - orderOf(b)));
  };
  const takeTranscript = (message: Message): void => {
    const role = message['role'] === 'agent' ? 'agent' : 'user';
    const turnId = String(message['turnId']);
    const known = turns.get(`${role} ${turnId}`);
    let replyMs = known?.replyMs ?? null;
    if (role === 'agent' && known === undefined && sentAtMs !== null) {
      replyMs = performance.now() - sentAtMs;
      sentAtMs = null;
    }
    const text =
      typeof message['text'] === 'string' ? message['text'] : (known?.text ?? '') + String(message['delta'] ?? '');
    put({ turnId, role, text, isFinal: message['final'] === true, isCut: message['interrupted'] === true, replyMs });
  };
  socket.onopen = () => send({ type: 'session.start', protocol: '1' });
  socket.onmessage = ({ data: text }) => {
    if (typeof text !== 'string') return;
    const message = JSON.parse(text) as Message;
    if (message.type === 'session.ready') {
      send({ type: 'audio.mute', muted: true });
      events.opened(String(message['callUuid']));
    } else if (message.type === 'transcript') takeTranscript(message);
    else if (message.type === 'ping') send({ type: 'pong', id: message['id'] });
    else if (message.type === 'error') end(String(message['message'] ?? message['code']));
    else if (message.type === 'session.ended') end(null);
  };
  socket.onclose = () => end(null);
  return {
    send(text) {
      sentAtMs = performance.now();
      send({ type: 'user.text', text });
    },
    end() {
      send({ type: 'session.end' });
      setTimeout(() => socket.close(1000), 500);
    },
  };
}

/** Turns are numbered in the order in which they began. */
const orderOf = ({ turnId }: Said): number => Number(/\d+/.exec(turnId)?.[0] ?? 0);
