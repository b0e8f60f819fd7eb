/**
 * Why a text was not spoken. It ends that one request and nothing else; the thread goes on. `code` is for programs, the
 * message says what to change. It crosses the threads as code and message.
 */
export type VoiceErrorCode =
  | 'unknown_voice'
  | 'text_too_long'
  | 'nothing_to_speak'
  | 'overloaded'
  | 'engine_failed'
  | 'engine_gone'
  /** By the provider: the key, the quota, the voice or the text. */
  | 'refused';

export class VoiceError extends Error {
  override readonly name = 'VoiceError';
  readonly code: VoiceErrorCode;

  constructor(code: VoiceErrorCode, message: string, options?: { cause: unknown }) {
    super(message, options);
    this.code = code;
  }
}
