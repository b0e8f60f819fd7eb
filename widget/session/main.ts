/** Entry of the voice engine: hands itself to the script element that loaded it (`loader/parts.ts`). */
import type { SessionEngine } from '../contract/ports.ts';
import { createSession } from './session.ts';

const script = document.currentScript as (HTMLScriptElement & { deliver?(engine: SessionEngine): void }) | null;
script?.deliver?.({ createSession });
