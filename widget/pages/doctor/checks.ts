/**
 * What may keep a visitor from talking, each found out on the visitor's own machine and each with its way out. Checks
 * run one after the other; `probe.ts` holds what they share: the microphone and the audio context, opened in the click.
 */
import { probeOpus } from '../../session/opus.ts';
import { type Finding, fail, ok, warn } from './finding.ts';
import { networkResult } from './network-result.ts';
import { echoOf, levelOf, type Probe } from './probe.ts';

export interface Check {
  name: string;
  run(probe: Probe): Promise<Finding>;
}

const LISTEN_MS = 2_500;
const QUIET_DBFS = -55;
const ECHO_AUDIBLE_DB = 12;
const PINGS = 7;

export const CHECKS: readonly Check[] = [
  {
    name: 'Secure page',
    run: async () =>
      isSecureContext
        ? ok('This page may ask for the microphone.')
        : fail('Not a secure page: browsers give no microphone here.', 'Open the page with https, or on localhost.'),
  },
  {
    name: 'Browser',
    run: async () => {
      const lacking = [
        [window.AudioWorkletNode, 'AudioWorklet'],
        [navigator.mediaDevices?.getUserMedia, 'getUserMedia'],
        [window.WebSocket, 'WebSocket'],
      ].filter(([part]) => !part);
      if (lacking.length === 0) return ok('It has everything that a call needs.');
      return fail(
        `It lacks ${lacking.map(([, name]) => name).join(', ')}.`,
        'Use a current Chrome, Edge, Firefox or Safari.',
      );
    },
  },
  {
    name: 'Permissions policy',
    run: async () => {
      const { featurePolicy } = document as { featurePolicy?: { allowsFeature(name: string): boolean } };
      if (featurePolicy?.allowsFeature('microphone') !== false) return ok('The microphone is allowed for this page.');
      return fail(
        'The page, or the frame that it is in, forbids the microphone.',
        'Send Permissions-Policy: microphone=(self), and give a frame allow="microphone; autoplay".',
      );
    },
  },
  {
    name: 'Microphone',
    async run(probe) {
      try {
        const [track] = (await probe.microphone).getAudioTracks();
        return ok(`${track?.label || 'A microphone'} is open.`);
      } catch (error) {
        const name = error instanceof Error ? error.name : '';
        if (name === 'NotAllowedError') {
          return fail(
            'The permission was refused.',
            'Open the lock or settings sign in the address bar, allow the microphone, and run the check again. Look at the privacy settings of the system too.',
          );
        }
        if (name === 'NotReadableError')
          return fail(
            'Another program holds the microphone.',
            'Close other calls and recorders, then run the check again.',
          );
        return fail(
          'No microphone was found.',
          'Connect one, choose it in the settings of the system, and run the check again.',
        );
      }
    },
  },
  {
    name: 'Your voice',
    async run(probe) {
      const dbfs = await levelOf(probe, LISTEN_MS);
      if (dbfs === null) return warn('Not heard: there is no microphone.', 'Mend the line above first.');
      if (!Number.isFinite(dbfs) || dbfs < -80)
        return fail(
          'The microphone gives silence.',
          'It may be muted by a switch, in the system, or by a headset’s button.',
        );
      if (dbfs < QUIET_DBFS)
        return warn(
          `Very quiet: ${Math.round(dbfs)} dB at the loudest.`,
          'Say something while the check runs, come closer, or turn the input level up.',
        );
      return ok(`${Math.round(dbfs)} dB at the loudest.`);
    },
  },
  {
    name: 'Sound',
    async run({ context }) {
      if (context.state !== 'running')
        return fail('The browser plays nothing.', 'Allow sound for this page in its settings.');
      const ms = Math.round(((context.baseLatency || 0) + (context.outputLatency || 0)) * 1000);
      if (ms > 200) return warn(`Plays, ${ms} ms late.`, 'A Bluetooth headset adds this; a cable takes it away.');
      return ok(`Plays at ${context.sampleRate / 1000} kHz, ${ms} ms late.`);
    },
  },
  {
    name: 'Echo',
    async run(probe) {
      const heardDb = await echoOf(probe);
      if (heardDb === null) return warn('Not measured: there is no microphone.', 'Mend the microphone first.');
      const [track] = (await probe.microphone).getAudioTracks();
      const cancels = track?.getSettings().echoCancellation !== false;
      if (heardDb > ECHO_AUDIBLE_DB) {
        return warn(
          `The microphone hears the speaker: ${Math.round(heardDb)} dB above the room${cancels ? '' : ', and the browser cancels no echo'}.`,
          'Use a headset, or turn the speaker down: else the agent may hear itself.',
        );
      }
      return ok(
        cancels
          ? 'The browser cancels echo; the speaker is not heard in the microphone.'
          : 'The speaker is not heard in the microphone.',
      );
    },
  },
  {
    name: 'Codec',
    run: async () => {
      const { encode, decode } = await probeOpus();
      if (encode && decode) return ok('Opus both ways, about 30 kbit/s.');
      const pcm = encode || decode ? 'one way' : 'both ways';
      return warn(
        `No Opus ${pcm}: plain sound is sent instead, about 256 kbit/s a way.`,
        'Nothing has to be done; on a thin line a current browser helps.',
      );
    },
  },
  {
    name: 'Content policy',
    async run(probe) {
      try {
        await probe.context.audioWorklet.addModule(probe.workletUrl);
      } catch {
        const directive = probe.violation();
        return fail(
          directive === null ? 'The audio program did not load.' : `Blocked by the page’s ${directive}.`,
          'An extension or a proxy may have changed the page. For your own website see docs/embed-script.md: script-src and connect-src must name the service.',
        );
      }
      return ok('The audio program loads.');
    },
  },
  {
    name: 'Network',
    run: async () => {
      const times: number[] = [];
      for (let i = 0; i < PINGS; i++) {
        const beganAtMs = performance.now();
        const answer = await fetch('/livez', { cache: 'no-store' }).catch(() => null);
        if (answer?.ok !== true)
          return fail('The service does not answer.', 'Check the network, the VPN and the firewall.');
        if (i > 0) times.push(performance.now() - beganAtMs);
      }
      return networkResult(times);
    },
  },
  {
    name: 'Voice line',
    run: () =>
      new Promise((resolve) => {
        const broken = fail(
          'WebSockets do not get through.',
          'A proxy or firewall cuts them: allow wss:// to this host, path /ws/live.',
        );
        const through = ok('WebSockets get through.');
        let hasOpened = false;
        const socket = new WebSocket(
          `${location.origin.replace(/^http/, 'ws')}/ws/live?token=check&parentOrigin=${encodeURIComponent(location.origin)}`,
        );
        const timer = setTimeout(() => {
          socket.close();
          resolve(hasOpened ? through : broken);
        }, 4_000);
        socket.onopen = () => {
          hasOpened = true;
        };
        // A token that is none is refused, on an open socket: that is what shows that the line works.
        socket.onclose = () => {
          clearTimeout(timer);
          resolve(hasOpened ? through : broken);
        };
      }),
  },
];
