/** Turns what the gateway and the callee report into the story's lines. */

import type { CallEvent } from '../../clients/typescript/src/client.ts';
import type { ConversationEvent } from '../../media/contract/conversation.ts';
import type { EmulatorEvent } from '../emulators/emulator-event.ts';
import type { Story } from './story.ts';

const ms = (value: number): string => `${Math.round(value)} ms`;

/** The gateway's own account, from the call's event stream. */
export function narrateGateway(story: Story, event: CallEvent): void {
  if (event.kind === 'status') {
    story.line('state', String(event.data['status']));
    return;
  }
  const live = { type: event.kind, ...event.data } as ConversationEvent;
  switch (live.type) {
    case 'first_audio':
      story.line('first', `word of the agent ${ms(live.answerToFirstWordMs)} after the answer`);
      break;
    case 'barge_in':
      story.line('barge', bargeInText(live));
      break;
    case 'turn':
      if (live.turn.role === 'agent') {
        const note = live.turn.interrupted ? 'interrupted: this much was heard' : 'heard to the end';
        if (live.turn.heardText) story.agent(`“${live.turn.heardText}”`, note);
      } else {
        const understood = live.turn.intent
          ? `recognised, intent ${live.turn.intent}`
          : (live.turn.kind ?? 'recognised');
        story.callee(`“${live.turn.heardText || '…'}”`, understood);
      }
      break;
    case 'latency':
      story.line(
        'reply',
        `${ms(live.latency.agentMs)} after the callee's last sound (end of turn ${ms(live.latency.eouMs)})`,
      );
      break;
    case 'tool':
      story.line('tool', toolText(live));
      break;
    case 'recovery':
    case 'warning':
      story.line(live.type, JSON.stringify(event.data));
      break;
    default:
  }
}

function bargeInText(live: Extract<ConversationEvent, { type: 'barge_in' }>): string {
  if (live.phase === 'pause') return 'the callee talks into it: the agent falls silent';
  return live.phase === 'commit' ? 'a real interruption: the agent yields' : 'only a murmur: the agent goes on';
}

function toolText(live: Extract<ConversationEvent, { type: 'tool' }>): string {
  if (live.phase === 'start') return `${live.name}: the client's endpoint is asked`;
  const how = live.outcome === 'ok' ? `answered ${live.status}` : `${live.outcome}: ${live.code}`;
  return `${live.name} ${how} after ${ms(live.ms)}`;
}

/** The callee's account, from the carrier emulator. */
export function narrateCallee(story: Story, event: EmulatorEvent): void {
  switch (event.event) {
    case 'heard':
      if (event.understood) story.line('phone', `the callee understood “${event.text}”`);
      break;
    case 'said':
      story.line('phone', `the callee ${event.interrupting ? 'interrupts' : 'says'}: “${event.text}”`);
      break;
    case 'clear':
      story.line('phone', `the carrier dropped ${ms(event.droppedMs)} of queued agent speech`);
      break;
    case 'hangup':
      story.line('phone', `hung up by ${event.source} (${event.name})`);
      break;
    default:
  }
}
