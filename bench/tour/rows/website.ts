/** "POST /api/embed/session", `/ws/live`, "Embed script" and `window.ServiceVoice`. */
import type { Visit } from '../browser-visit.ts';
import { holds, refusedWith, row, type Section, same } from '../row.ts';
import type { Stage } from '../stage.ts';

const NO_CHROMIUM = 'not shown: no Chromium on this machine (apt-get install chromium, or CHROMIUM_PATH)';
const WHOLE = ['connecting', 'connected', 'disconnected'];

const session = ({ acme, origin }: Stage, change: object = {}) => ({
  body: { publicKey: acme.publicKey, agentId: acme.webAgentId, parentOrigin: origin, ...change },
});

/** Runs with what the browser saw, or says that there is no browser. */
async function visited(stage: Stage, show: (visit: Visit) => void): Promise<void> {
  const visit = await stage.visit;
  if (visit === null) stage.tell({ request: 'Chromium', answer: NO_CHROMIUM });
  else show(visit);
}

export async function showStatuses(stage: Stage): Promise<void> {
  await visited(stage, ({ clicked, refused }) => {
    stage.tell({
      request: `ServiceVoice.on('status', handler); a click; ServiceVoice.end()`,
      answer: clicked.join(' → '),
    });
    stage.tell({ request: 'the same with a key that nobody has', answer: refused.join(' → ') });
    same('statuses', clicked, WHOLE);
    same('statuses of a refused one', refused, ['connecting', 'error']);
  });
}

export const embedSession: Section = {
  title: 'Endpoints: POST /api/embed/session',
  rows: [
    row(
      "Headers: Content-Type: application/json; Origin: the website's origin",
      'Without the Origin of an allowed website it is refused.',
      async (stage) => {
        const asked = stage.clientOf(undefined).createEmbedSession(session(stage));
        await refusedWith(403, 'Origin not allowed', asked);
      },
    ),
    row(
      'publicKey',
      'From the Web Embed settings (POST /api/developer/widget-keys). An unknown one is refused.',
      async (stage) => {
        const asked = stage
          .clientOf(undefined)
          .createEmbedSession(session(stage, { publicKey: 'pk_nobody' }), { headers: { origin: stage.origin } });
        await refusedWith(401, 'Invalid public key', asked);
      },
    ),
    row('agentId', 'An agent that talks on websites.', async (stage) => {
      const agentId = stage.acme.agentId;
      const asked = stage
        .clientOf(undefined)
        .createEmbedSession(session(stage, { agentId }), { headers: { origin: stage.origin } });
      await refusedWith(404, 'Agent not found', asked);
    }),
    row(
      'parentOrigin | must match an allowlisted domain',
      'Another website, which even says so of itself, is refused.',
      async (stage) => {
        const origin = 'https://evil.example.com';
        const asked = stage
          .clientOf(undefined)
          .createEmbedSession(session(stage, { parentOrigin: origin }), { headers: { origin } });
        await refusedWith(403, 'Origin not allowed', asked);
      },
    ),
    row('Response: token (string), a short-lived JWT', 'The token, and nothing else.', async (stage) => {
      const { data } = await stage
        .clientOf(undefined)
        .createEmbedSession(session(stage), { headers: { origin: stage.origin } });
      same('fields', Object.keys(data), ['token']);
      same('parts', data.token.split('.').length, 3);
    }),
    row(
      'The token authenticates the WebSocket at /ws/live with token and parentOrigin',
      'A whole conversation of a small client: it hears the agent, says "yes please", is heard, and the agent ends it.',
      async (stage) => {
        const { callUuid, transcript, messages, closeCode } = await stage.web;
        stage.tell({
          request: `WS /ws/live?token=…&parentOrigin=${stage.origin}`,
          answer: `messages: ${messages.join(', ')}; closed ${closeCode}`,
        });
        stage.tell({ request: `its transcript, call ${callUuid}`, answer: transcript.join(' / ') });
        same('close code', closeCode, 1000);
        holds(
          'the visitor was heard',
          transcript.some((line) => line.startsWith('user: ') && line.includes('yes')),
        );
        holds(
          'the name was said',
          transcript.some((line) => line.includes('Welcome Asha')),
        );
      },
    ),
  ],
};

const attribute = (name: string, look: string, check: (visit: Visit) => [string, boolean]): ReturnType<typeof row> =>
  row(name, look, (stage) =>
    visited(stage, (visit) => {
      const [told, isSo] = check(visit);
      stage.tell({ request: visit.tag, answer: told });
      holds(name, isSo);
    }),
  );

const reached = (statuses: readonly string[]): boolean => JSON.stringify(statuses) === JSON.stringify(WHOLE);

export const embedScript: Section = {
  title: 'Endpoints: Embed script',
  rows: [
    attribute('data-public-key', 'The session got a token with it.', ({ clicked }) => [
      clicked.join(' → '),
      clicked.includes('connected'),
    ]),
    attribute('data-agent-id', 'This agent greeted.', ({ greetingHeard }) => [
      `greeting heard: ${greetingHeard}`,
      greetingHeard,
    ]),
    attribute('data-ui | custom exposes window.ServiceVoice', 'All six methods are there.', ({ hasApi }) => [
      `start, end, open, close, bind, on: ${hasApi}`,
      hasApi,
    ]),
    attribute('data-trigger | CSS selector that starts the call on click', 'A click on #talk.', ({ clicked }) => [
      `click on #talk: ${clicked.join(' → ')}`,
      reached(clicked),
    ]),
    attribute(
      'data-panel | overlay shows a closeable modal while the call runs',
      'The modal stood open during the call.',
      ({ panel }) => [`modal during the call: ${panel.duringCall}`, panel.duringCall],
    ),
    attribute('async', 'The element is async; the page did not wait for it.', ({ tag }) => [
      '<script async …>',
      tag.includes(' async '),
    ]),
    attribute('data-service-talk is also a click target', 'A click on an element with the marker.', ({ marked }) => [
      `click: ${marked.join(' → ')}`,
      reached(marked),
    ]),
    attribute(
      'Clicking requests the microphone and the agent starts speaking on that same click',
      'One click; the first words came without another.',
      ({ greetingHeard }) => [`agent heard after one click: ${greetingHeard}`, greetingHeard],
    ),
  ],
};

export const serviceVoice: Section = {
  title: 'Endpoints: Browser API window.ServiceVoice',
  rows: [
    attribute('start()', 'Called by the page.', ({ started }) => [
      `ServiceVoice.start(): ${started.join(' → ')}`,
      reached(started),
    ]),
    attribute('end()', 'It hung up: the last status is disconnected.', ({ started }) => [
      `after ServiceVoice.end(): ${started.at(-1)}`,
      started.at(-1) === 'disconnected',
    ]),
    attribute('open()', 'It shows the modal.', ({ panel }) => [`modal open: ${panel.shown}`, panel.shown]),
    attribute('close()', 'It closes the modal.', ({ panel }) => [`modal closed: ${panel.hidden}`, panel.hidden]),
    attribute("bind('<css selector>')", "An element that was none before, after bind('#later').", ({ bound }) => [
      `click on #later: ${bound.join(' → ')}`,
      reached(bound),
    ]),
    row("on('status', handler)", 'The handler got an object with status; its values in order.', (stage) =>
      showStatuses(stage),
    ),
  ],
};
