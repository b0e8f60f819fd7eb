/**
 * How a model of Gemini is named in addresses. People write `models/…` too, as the list of models has it, and
 * `tunedModels/…`; no name leads out of where models are. Pure.
 */
export function geminiModelPath(model: string): string {
  const path = model.includes('/') ? model : `models/${model}`;
  const steps = path.split('/').filter((step) => !['', '.', '..'].includes(step));
  return `v1beta/${steps.map(encodeURIComponent).join('/')}`;
}
