/**
 * What `npm run demo` may be told. `help.txt` is the same as text: `scripts/demo.mjs` shows it before anything is
 * installed, and a test holds it to this.
 */
import { LISTENS, LOCAL, SPEAKS, THINKS, USUAL_CHOICE } from './restaurant/providers.ts';

const namesIn = (parties: object): string => Object.keys(parties).join(', ');

export const DEMO_USAGE = {
  command: 'npm run demo -- [options]',
  about: `A phone conversation between two simulated people who really listen and speak. PORT and PARLEY_DATA_DIR are honoured.
A script is heard and spoken by local engines. The providers of a cascade are the real ones where their keys are in the
environment, else emulated on this machine.`,
  options: {
    agent: { type: 'string', default: 'scripted' },
    listen: { type: 'string', default: USUAL_CHOICE.listen },
    think: { type: 'string', default: USUAL_CHOICE.think },
    speak: { type: 'string', default: USUAL_CHOICE.speak },
    once: { type: 'boolean', default: false },
    'data-dir': { type: 'string' },
  },
  meanings: {
    agent: '<kind> scripted (a script, no provider) or cascade (a free conversation)',
    listen: `<name> of the cascade: ${namesIn(LISTENS)}; none is local: the local one knows scripts alone`,
    think: `<name> likewise: ${namesIn(THINKS)}; none is local`,
    speak: `<name> likewise: ${namesIn(SPEAKS)}, or ${LOCAL}, which needs no provider`,
    once: 'end after the first call, with 0 only if it really happened',
    'data-dir': '<folder> of the database and recordings (else PARLEY_DATA_DIR, else data/demo)',
  },
} as const;
