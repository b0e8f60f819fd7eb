/**
 * What sets one protocol of language models apart from another: how it is asked, and how its streamed answer is read.
 * Everything else (limits, retries, what was used) is the same for all of them, in `model-service.ts`; what answers
 * have in common while they come is in `growing-answer.ts`.
 */
import type { ConnectionGrant } from '../../contract/grant.ts';
import type { ModelChunk, ModelRequest, ModelUsage, ProviderFault } from '../../contract/model.ts';

export type Stop = Extract<ModelChunk, { type: 'done' }>['stop'];

/** `Form`: how servers of the protocol differ, found out by asking. */
export interface ModelWire<Settings extends { model: string }, Form> {
  firstForm(grant: ConnectionGrant, settings: Settings): Form;
  /** Another form that may suit a server that refused this one with these words; null: it is not the form. */
  otherForm(form: Form, said: string): Form | null;
  /** Asked in this form it says what was used. */
  tellsUsage(form: Form): boolean;
  url(grant: ConnectionGrant, settings: Settings): string;
  headers(grant: ConnectionGrant): Record<string, string>;
  body(request: ModelRequest, settings: Settings, form: Form): Record<string, unknown>;
  /** Fields of the body that a model reads: of a request that was called off its tokens are estimated by them. */
  readonly promptFields: readonly string[];
  answer(say: (chunk: ModelChunk) => void, settings: Settings): StreamedAnswer;
}

/** Reads one answer. A stranger writes it: what is no answer, or a part of another one, is an `AnswerFault`. */
export interface StreamedAnswer {
  /** Characters of text and arguments so far. */
  readonly chars: number;
  readonly usage: ModelUsage | null;
  /** The model has said all; only what it used may follow. */
  readonly stop: Stop | null;
  /** The protocol's last word was said. */
  readonly isDone: boolean;
  /** `data` of one event. Throws `AnswerFault`. */
  event(data: string): void;
}

/** What is wrong with an answer. */
export class AnswerFault extends Error {
  readonly fault: ProviderFault;
  constructor(fault: ProviderFault, message: string) {
    super(message);
    this.fault = fault;
  }
}
