/**
 * One embedded agent: its session, its statuses, its panel. A click does everything that a gesture allows at once; the
 * voice engine, loaded beforehand where possible, takes over what is under way. `error` and `disconnected` end an
 * attempt, exactly one of them.
 */
import type {
  Fault,
  Panel,
  PanelModule,
  Session,
  SessionEngine,
  SessionHost,
  StartOptions,
  StatusEvent,
  ToolHandler,
  WidgetConfig,
} from '../contract/ports.ts';
import { stopAll } from '../session/stop-all.ts';
import { createEvents, type Events } from './events.ts';
import { faultOf, messageOf, ownersWay, watchPolicy } from './faults.ts';
import { addressOf, createParts, VERSION } from './parts.ts';
import { fetchToken, isMicrophoneGranted, obstacle, openAudio, openMicrophone } from './unlock.ts';

export interface Instance {
  readonly key: string;
  readonly isActive: boolean;
  on: Events['on'];
  /** Resolves with the status that the attempt led to first; never rejects, so that a click handler need not catch. */
  start(options?: StartOptions): Promise<StatusEvent>;
  end(reason?: string): void;
  open(): void;
  close(): void;
  mute(muted: boolean): void;
  sendText(text: string): void;
  sendDigits(digits: string): void;
  tool(name: string, handler: ToolHandler): void;
  /** Fetches what a click will need. */
  prepare(): void;
  showButton(): void;
  /** Tells an `error` with code `policy_blocked` without an attempt. */
  refuse(reason: string): void;
}

interface Attempt {
  session: Session | null;
  settled: Promise<StatusEvent>;
  settle(event: StatusEvent): void;
  /** Before the session is there, this is what end() does. */
  abandon(): void;
  callUuid?: string;
}

/** `beforeStart` ends what another instance of the page has running: there is one microphone. */
export function createInstance(config: WidgetConfig, beforeStart: (self: Instance) => void): Instance {
  const events = createEvents();
  const load = createParts(config.base, config.nonce);
  const violation = watchPolicy(config.base);
  const tools = new Map<string, ToolHandler>();
  let attempt: Attempt | null = null;
  let panel: Promise<Panel | null> | null = null;
  let isPrepared = false;
  let hasFailed = false;
  const hasPanel = config.panel !== 'none';

  function withPanel(use: (panel: Panel) => void): void {
    panel ??= load<PanelModule>('panel').then(
      ({ createPanel }) =>
        createPanel({
          config,
          on: events.on,
          start: instance.start,
          close: instance.close,
          end: instance.end,
          mute: instance.mute,
          sendText: instance.sendText,
        }),
      (error: unknown) => {
        panel = null;
        console.warn('ServiceVoice: the panel could not be loaded.', error);
        return null;
      },
    );
    void panel.then((one) => one && use(one));
  }

  function begin(options: StartOptions): Attempt {
    let settle = (_event: StatusEvent): void => {};
    const settled = new Promise<StatusEvent>((resolve) => {
      settle = resolve;
    });
    let context: AudioContext | null = null;
    let microphone: Promise<MediaStream> | null = null;
    const self: Attempt = {
      session: null,
      settled,
      settle,
      abandon: () => over({ status: 'disconnected', reason: 'user_hangup' }),
    };
    attempt = self;

    const tell = (event: StatusEvent): void => {
      const full = self.callUuid === undefined ? event : { ...event, callUuid: self.callUuid };
      hasFailed = event.status === 'error';
      if (event.status !== 'connecting') settle(full);
      events.status(full);
    };
    const over = (event: StatusEvent): void => {
      if (attempt !== self) return;
      attempt = null;
      if (self.session !== null) self.session.end('client_error');
      microphone?.then(stopAll, () => {});
      tell(event);
      if (self.session === null) void context?.close().catch(() => {});
    };
    const failed = (fault: Fault): void => over(errorOf(fault));
    const failedBy = (error: unknown): void => void faultOf(error, violation).then(failed);

    const lacking = obstacle();
    if (lacking !== null) {
      tell({ status: 'connecting' });
      failed(lacking.fault);
      return self;
    }
    try {
      context = openAudio();
      microphone = openMicrophone();
      microphone.catch(failedBy);
    } catch (error) {
      tell({ status: 'connecting' });
      failedBy(error);
      return self;
    }
    const token = fetchToken(config);
    token.catch(failedBy);
    const unlocked = { context, microphone, token, granted: isMicrophoneGranted() };
    const host: SessionHost = {
      config,
      options,
      version: VERSION,
      workletUrl: addressOf(config.base, 'audio'),
      tools,
      requestToken: () => fetchToken(config),
      requestMicrophone: openMicrophone,
      faultOf: (error) => faultOf(error, violation),
      connecting: (count) => attempt === self && tell({ status: 'connecting', reason: 'resuming', attempt: count }),
      connected(callUuid) {
        self.callUuid = callUuid;
        if (attempt === self) tell({ status: 'connected' });
      },
      ended: (reason) => over({ status: 'disconnected', reason }),
      failed,
      emit: events.emit,
    };
    load<SessionEngine>('session')
      .then((engine) => {
        if (attempt === self) self.session = engine.createSession(host, unlocked);
      })
      .catch(failedBy);
    tell({ status: 'connecting' });
    return self;
  }

  const instance: Instance = {
    key: `${config.publicKey} ${config.agentId}`,
    get isActive() {
      return attempt !== null;
    },
    on: events.on,
    start(options) {
      if (attempt !== null) return attempt.settled;
      beforeStart(instance);
      // The click event that a page's handler may pass on is no set of options.
      const begun = begin(options instanceof Event ? {} : { ...options });
      // A refusal may be quicker than the panel: it is what the visitor must read.
      if (hasPanel) withPanel((one) => (attempt !== null || hasFailed) && one.show(false));
      return begun.settled;
    },
    end(reason) {
      const words = typeof reason === 'string' ? reason : 'user_hangup';
      if (attempt?.session) attempt.session.end(words);
      else attempt?.abandon();
    },
    open: () => withPanel((one) => one.show(true)),
    close() {
      instance.end();
      void panel?.then((one) => one?.hide());
    },
    mute: (muted) => attempt?.session?.mute(muted !== false),
    sendText: (text) => attempt?.session?.sendText(String(text)),
    sendDigits: (digits) => attempt?.session?.sendDigits(String(digits)),
    tool: (name, handler) => void tools.set(String(name), handler),
    prepare() {
      if (isPrepared || obstacle() !== null) return;
      isPrepared = true;
      load('session')
        .then(() => fetch(addressOf(config.base, 'audio'), { credentials: 'same-origin' }))
        .catch(() => {
          isPrepared = false;
        });
      if (hasPanel) withPanel(() => {});
    },
    showButton: () => withPanel((one) => one.showButton()),
    refuse: (reason) => events.status(errorOf({ code: 'policy_blocked', reason })),
  };
  return instance;
}

/** Visitors read what they can do; what its owner must mend stands in the browser's console. */
function errorOf({ code, reason }: Fault): StatusEvent {
  const forOwner = ownersWay(code);
  if (forOwner) console.warn(`ServiceVoice: ${forOwner} (${code}, ${reason})`);
  return { status: 'error', code, reason, message: messageOf(code) };
}
