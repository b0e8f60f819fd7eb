/**
 * A request of the operator that cannot be carried out, with the way out; shown without a stack. Not a fault of ours.
 */
export class OperatorError extends Error {
  /**
   * `changed`: somebody else changed it since it was read. `no_version`: the thing is there, that version of it is not.
   */
  readonly code: 'not_found' | 'exists' | 'invalid' | 'refused' | 'changed' | 'no_version';
  /** What is wrong, for whoever asks; `message` has the command line's way out behind it. */
  readonly reason: string;

  /**
   * `command`: what to do on the command line, such as `see: parley line list acme`; clients of the API are not told
   * it. Told as it is typed where `parley` is on no path.
   */
  constructor(code: OperatorError['code'], reason: string, command?: string) {
    super(command === undefined ? reason : `${reason}; ${command.replace(/(?<!npx )\bparley /g, 'npx parley ')}`);
    this.name = 'OperatorError';
    this.code = code;
    this.reason = reason;
  }
}
