/** A request of the operator that cannot be carried out, with the way out; shown without a stack. Not a fault of ours. */
export class OperatorError extends Error {
  /** `changed`: somebody else changed it since it was read. `no_version`: the thing is there, that version of it is not. */
  readonly code: 'not_found' | 'exists' | 'invalid' | 'refused' | 'changed' | 'no_version';

  constructor(code: OperatorError['code'], message: string) {
    super(message);
    this.name = 'OperatorError';
    this.code = code;
  }
}
