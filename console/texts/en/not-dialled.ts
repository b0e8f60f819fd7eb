/** Words for what keeps calls from being dialled: what it is, what to do, and the page on which that is done. */
import { endedWords } from './calls.ts';

/** `scope`: what a person needs to see the page. */
export const places = {
  agents: { name: 'Agents', path: ['agents'], scope: 'agents:read' },
  leads: { name: 'Leads', path: ['leads'], scope: 'leads:read' },
  calling: { name: 'Settings, Calling', path: ['settings', 'calling'], scope: 'settings:read' },
  lines: { name: 'Settings, Phone numbers', path: ['settings', 'lines'], scope: 'settings:read' },
  limits: { name: 'Settings, Limits', path: ['settings', 'limits'], scope: 'settings:read' },
  connections: { name: 'Settings, Connections', path: ['settings', 'connections'], scope: 'settings:read' },
  service: { name: 'Operator, Service', path: ['operator', 'service'], scope: '' },
} as const;

export interface Cause {
  what: string;
  wayOut?: string;
  place?: keyof typeof places;
}

const CAUSES: Readonly<Record<string, Cause>> = {
  draining: {
    what: 'The service is being stopped',
    wayOut: 'It takes no new calls; once it runs again it does. Repeat the request then.',
    place: 'service',
  },
  no_capacity: {
    what: 'No process takes calls now',
    wayOut: 'All that carry calls are full, stopped or not there. Repeat the request in a while.',
    place: 'service',
  },
  overloaded: {
    what: 'The service has more work than time',
    wayOut: 'Repeat the request in a while; if it lasts, it needs a larger machine or another one.',
    place: 'service',
  },
  missing_fields: {
    what: 'The request names no agent, or lacks something else',
    wayOut: 'Choose the agent and the number that are taken where a lead names none.',
    place: 'calling',
  },
  credentials_missing: {
    what: "There is no phone number with its carrier's credentials",
    wayOut: 'Add the number, or its credentials.',
    place: 'lines',
  },
  agent_not_found: { what: 'There is no such agent', wayOut: 'It was deleted, or its id is wrong.', place: 'agents' },
  agent_not_outbound: {
    what: 'The agent places no calls',
    wayOut: 'Its direction must be outbound or any.',
    place: 'agents',
  },
  blocked_suppressed: {
    what: 'The number must not be called',
    wayOut: 'It is on the list under Must not be called.',
    place: 'leads',
  },
  blocked_time_window: {
    what: 'Outside the calling hours there',
    wayOut: 'The workspace sets them.',
    place: 'calling',
  },
  blocked_country: {
    what: 'This workspace does not call that country',
    wayOut: 'The workspace sets which it calls.',
    place: 'calling',
  },
  blocked_destination: {
    what: 'The operator has not allowed that country or kind of number',
    wayOut: 'What is allowed stands at the end of the page; whoever runs the service allows more.',
    place: 'calling',
  },
  do_not_contact: { what: 'The lead is not to be contacted', wayOut: 'Its status says so.', place: 'leads' },
  lead_active_call: { what: 'The lead is being called already', wayOut: 'Call again when that call is over.' },
  duplicate_call: {
    what: 'The same call runs already',
    wayOut: 'The workspace refuses a second one.',
    place: 'calling',
  },
  cps_limit: { what: 'Too many new calls a second', wayOut: 'Place them slower, or raise the limit.', place: 'limits' },
  concurrency_limit: {
    what: 'Too many calls at once',
    wayOut: 'Wait for some to end, or raise the limit.',
    place: 'limits',
  },
  line_switched_off: {
    what: 'The phone number is switched off',
    wayOut: 'One of its limits is 0: raise it, or call from another.',
    place: 'lines',
  },
  daily_limit: {
    what: 'The day has had its calls or minutes',
    wayOut: 'What the operator allows a day stands at the end of the page.',
    place: 'calling',
  },
  invalid_number: {
    what: 'Invalid number',
    wayOut: 'The carrier knows no such number: put it right where it came from, or take it off your list.',
  },
  invalid_to: { what: 'The number to call is none', wayOut: 'Numbers are in international form: +1 415 555 0123.' },
  invalid_from: { what: 'There is no such number to call from', wayOut: 'Its id is wrong.', place: 'lines' },
  carrier_auth: {
    what: 'The carrier refuses the credentials',
    wayOut: 'Test them, and set those of its console.',
    place: 'lines',
  },
  agent_unavailable: {
    what: 'The agent could not begin',
    wayOut: 'Test the connection that it names.',
    place: 'connections',
  },
};

/** `reason`: an error code, or the reason with which calls ended. Undefined: there are no words for it. */
export function causeOf(reason: string): Cause | undefined {
  const ended = endedWords[reason];
  return CAUSES[reason] ?? (ended === undefined ? undefined : { what: ended });
}
