/** `--agent scripted`: a dentist's reminder, whose callee agrees, interrupts and asks. No provider is needed. */
import type { AgentDefinition } from '../../../media/contract/agent-definition.ts';
import type { PersonaInput } from '../../emulators/persona.ts';
import type { Play } from '../play.ts';
import { readBenchJson } from '../read-bench-json.ts';
import { bookingAgent, startBookingEndpoint } from './booking-agent.ts';
import { faultsOfBooking } from './booking-verdict.ts';

export async function startBookingPlay(): Promise<Play> {
  const endpoint = await startBookingEndpoint();
  return {
    agent: bookingAgent(readBenchJson<AgentDefinition>('demo/agent.json'), endpoint.url),
    personas: readBenchJson<PersonaInput[]>('emulators/personas/demo.json'),
    metadata: { appointment_day: 'Tuesday' },
    connections: [],
    environment: {},
    endpoint,
    page: { title: 'River Dental', phrases: ['yes please', 'where can I park', 'no thank you'] },
    about: [],
    faultsOf: faultsOfBooking,
    close: async () => endpoint.close(),
  };
}
