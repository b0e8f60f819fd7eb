/** A request of the operator that cannot be carried out, with the way out; shown without a stack. Not a fault of ours. */
export class OperatorError extends Error {
  /** `not_found`, `exists`, `invalid`, `refused` */
  readonly code: 'not_found' | 'exists' | 'invalid' | 'refused';

  constructor(code: OperatorError['code'], message: string) {
    super(message);
    this.name = 'OperatorError';
    this.code = code;
  }
}
