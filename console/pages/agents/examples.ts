/** Agents to start from. The scripted one speaks with the local engines: it works without any key. */
export const EXAMPLES = {
  scripted: {
    kind: 'scripted',
    name: 'Appointments',
    direction: 'any',
    language: 'en-US',
    voice: 'slt',
    script: 'Confirm an appointment with {{customer_name}}. Be brief and friendly.',
    greeting: 'Hello {{customer_name | there}}, this is River Dental about your appointment on Tuesday.',
    steps: [
      {
        id: 'confirm',
        say: 'Can you still come at three in the afternoon?',
        expect: 'yesno',
        replies: [
          { intent: 'confirmed', phrases: ['yes', 'yes please', 'yes i can', 'sure'], goto: 'done' },
          { intent: 'cannot_come', phrases: ['no', 'no sorry', 'no i can not'], goto: 'call_back' },
        ],
      },
      {
        id: 'call_back',
        say: 'No problem. We will call you again to find another day. Goodbye!',
        end: { reason: 'agent_hangup', disposition: 'call_back' },
      },
      {
        id: 'done',
        say: 'Great, see you then. Goodbye!',
        end: { reason: 'agent_hangup', disposition: 'confirmed' },
      },
    ],
    fallback: { say: ['Sorry, I did not understand that.', 'Could you say that again?'], after: 3, goto: 'call_back' },
    idle: { promptAfterMs: 8000, say: ['Are you still there?'], endAfterMs: 30000 },
  },
  cascade: {
    kind: 'cascade',
    schema: 1,
    name: 'Order desk',
    direction: 'any',
    language: 'en-US',
    script:
      'You are Mia of a pizza shop. Tell {{customer_name}} where their order is, and answer questions about the menu.',
    firstMessage: 'Hello {{customer_name | there}}, this is Mia. How can I help you?',
    think: [{ connection: 'openai', model: 'gpt-5-mini', price: { input: 0.25, output: 2 } }],
    listen: { connection: 'deepgram', engine: 'deepgram', model: 'nova-3' },
    speak: [{ engine: 'local', voice: 'slt' }],
  },
};
