/** Words of who uses an agent. */
export const usesWords = {
  about: 'Who would notice that it is changed or taken out of use, and what it needs itself.',
  live: 'Calls in progress',
  calls: 'Calls of the last 30 days',
  most: (count: number) => `${count} or more`,
  last: 'Last call',
  leads: 'Leads that name it',
  isDefault: 'Calls of leads that name no agent',
  yes: 'Are its',
  no: 'Are another’s',
  line: 'Its number for calls of leads',
  ofWorkspace: 'That of the workspace',
  websites: 'Websites that may ask for it',
  clips: 'Clips that it plays',
  connections: 'Connections that it names',
  none: 'None',
};
