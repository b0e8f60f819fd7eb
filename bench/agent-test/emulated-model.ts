/**
 * What emulated models know (`bench/emulators/providers/mind`) behind the port of language models, without any
 * provider's protocol: asked by text calls, on their clock. Its rules see the very prompt, history and tools that a
 * real model would.
 */
import type { Clock } from '../../media/contract/clock.ts';
import type { LanguageModel, ModelChunk, ModelMessage, ModelRequest } from '../../media/contract/model.ts';
import type { AskedMessage, AskedQuestion } from '../emulators/providers/mind/question.ts';
import { type Answer, answerTo, OTHERWISE } from '../emulators/providers/mind/rules.ts';
import type { Scenario } from '../emulators/providers/mind/scenario.ts';

/** `unfitted` is called where no rule fits. */
export function emulatedModel(
  scenario: Scenario,
  model: string,
  clock: Clock,
  unfitted: () => void = () => {},
): LanguageModel {
  let asked = 0;
  return {
    ask(request, onChunk) {
      const answer = answerTo(scenario, questionOf(request, model));
      if (answer.rule === OTHERWISE) unfitted();
      const { firstTokenMs, tokenMs } = answer.scripted.timing ?? scenario.timing;
      const chunks = chunksOf(answer, request.maxTokens, `call_${++asked}`);
      let forget = (): void => {};
      const next = (): void => {
        const chunk = chunks.shift();
        if (chunk === undefined) return;
        forget = clock.after(tokenMs, next);
        onChunk(chunk);
      };
      forget = clock.after(firstTokenMs, next);
      return () => forget();
    },
  };
}

function chunksOf({ text, calls, scripted }: Answer, maxTokens: number, callId: string): ModelChunk[] {
  const { streamsNothing, repeats, cut, finishReason } = scripted;
  if (streamsNothing) return [];
  const words = text?.match(/\S+\s*/g) ?? [];
  const all = repeats ? Array.from({ length: maxTokens }, (_none, at) => words[at % words.length] ?? '') : words;
  const told = cut === undefined ? all : all.slice(0, cut.afterTokens);
  const chunks: ModelChunk[] = told.map((word) => ({ type: 'text', text: word }));
  if (cut !== undefined) return [...chunks, { type: 'failed', fault: 'failed', message: 'the answer broke off' }];
  const uses = calls.map(({ name, arguments: argumentsText }, at): ModelChunk => {
    return { type: 'use', use: { useId: `${callId}_${at}`, name, argumentsText } };
  });
  const isCut = repeats || finishReason === 'length';
  const stop = finishReason === 'content_filter' ? 'filtered' : isCut ? 'length' : uses.length > 0 ? 'tools' : 'end';
  return [...chunks, ...uses, { type: 'done', stop, usage: null }];
}

function questionOf({ messages, tools, toolChoice }: ModelRequest, model: string): AskedQuestion {
  return {
    model,
    messages: messages.map(askedMessageOf),
    tools: tools.map((tool) => ({ type: 'function', function: { ...tool, parameters: { ...tool.parameters } } })),
    toolChoice,
    parallelCalls: true,
    responseFormat: { type: 'text', schema: null },
  };
}

function askedMessageOf(message: ModelMessage): AskedMessage {
  const { role, text } = message;
  const uses = message.role === 'assistant' ? (message.toolUses ?? []) : [];
  const calls = uses.map(({ useId, name, argumentsText }) => ({ id: useId, name, arguments: argumentsText }));
  return { role, text, calls, callId: message.role === 'tool' ? message.useId : null };
}
