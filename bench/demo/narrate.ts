/** Turns what the gateway and the callee report into the story's lines. */

import type { ConversationEvent } from '../../media/contract/conversation.ts';
import type { EmulatorEvent } from '../emulators/emulator-event.ts';
import type { FollowedEvent } from '../harness/call-client.ts';
import type { Story } from './story.ts';

const ms = (value: number): string => `${Math.round(value)} ms`;

/** The gateway's own account, from the call's event stream. */
export function narrateGateway(story: Story, event: FollowedEvent): void {
  if (event.kind === 'status') {
    story.line('state', String(event.data['status']));
    return;
  }
  const happened = { type: event.kind, ...event.data } as ConversationEvent;
  switch (happened.type) {
    case 'first_audio':
      story.line('first', `word of the agent ${ms(happened.answerToFirstWordMs)} after the answer`);
      break;
    case 'barge_in':
      story.line('barge', bargeInText(happened));
      break;
    case 'turn':
      if (happened.turn.role === 'agent') {
        const note = happened.turn.interrupted ? 'interrupted: this much was heard' : 'heard to the end';
        if (happened.turn.heardText) story.agent(`“${happened.turn.heardText}”`, note);
      } else {
        const understood = happened.turn.intent
          ? `recognised, intent ${happened.turn.intent}`
          : (happened.turn.kind ?? 'recognised');
        story.callee(`“${happened.turn.heardText || '…'}”`, understood);
      }
      break;
    case 'latency':
      story.line(
        'reply',
        `${ms(happened.latency.agentMs)} after the callee's last sound (end of turn ${ms(happened.latency.eouMs)})`,
      );
      break;
    case 'tool':
      story.line('tool', toolText(happened));
      break;
    case 'recovery':
    case 'warning':
      story.line(happened.type, JSON.stringify(event.data));
      break;
    default:
  }
}

function bargeInText(happened: Extract<ConversationEvent, { type: 'barge_in' }>): string {
  if (happened.phase === 'pause') return 'the callee talks into it: the agent falls silent';
  return happened.phase === 'commit' ? 'a real interruption: the agent yields' : 'only a murmur: the agent goes on';
}

function toolText(happened: Extract<ConversationEvent, { type: 'tool' }>): string {
  if (happened.phase === 'start') return `${happened.name}: the client's endpoint is asked`;
  const how = happened.outcome === 'ok' ? `answered ${happened.status}` : `${happened.outcome}: ${happened.code}`;
  return `${happened.name} ${how} after ${ms(happened.ms)}`;
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
