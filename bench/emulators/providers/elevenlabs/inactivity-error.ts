/** What ElevenLabs says of a socket over which nothing came for too long. */
export function inactivityError(limitMs: number): { error: string; message: string } {
  return {
    error: 'input_timeout_exceeded',
    message:
      `Have not received a new text input within the timeout of ${limitMs / 1000} seconds. Streaming input terminated. ` +
      'Please make sure to either feed the input in the timely manner, or to send the end of input text ' +
      '(empty string "") when done.',
  };
}
