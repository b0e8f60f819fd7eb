/**
 * Signatures of a model's thoughts as marks of uses of tools, with the name of the model that thought: another one, to
 * which a call falls back, would refuse them, or think on with thoughts that are not its own. Pure.
 */

export function markOf(model: string, signature: string): string {
  return `${model} ${signature}`;
}

/** Undefined: there is none, or it is of another model, or provider. */
export function signatureIn(mark: string | undefined, model: string): string | undefined {
  const head = markOf(model, '');
  return mark?.startsWith(head) === true ? mark.slice(head.length) : undefined;
}
