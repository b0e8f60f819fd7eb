/** Gemini's streamed answers, for `model-service.ts`. */
import type { ModelWire } from '../provider/model-wire.ts';
import { GenerateAnswer } from './generate-answer.ts';
import {
  FIRST_FORM,
  type GeminiSettings,
  type GenerateForm,
  geminiHeaders,
  generateBody,
  generateUrl,
  otherGenerateForm,
} from './generate-request.ts';

export const GENERATE_WIRE: ModelWire<GeminiSettings, GenerateForm> = {
  firstForm: () => FIRST_FORM,
  otherForm: otherGenerateForm,
  tellsUsage: () => true,
  url: generateUrl,
  headers: geminiHeaders,
  body: generateBody,
  promptFields: ['systemInstruction', 'contents', 'tools'],
  answer: (say, { model }) => new GenerateAnswer(say, model),
};
