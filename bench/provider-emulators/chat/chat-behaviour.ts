/**
 * Ways in which a chat endpoint has a bad day. A test queues them; by hand, the name of the model chooses one:
 * `emulated-stalls`.
 */
export const CHAT_BEHAVIOURS = [
  'answers',
  /** Accepts the request and says nothing. */
  'stalls',
  /** Sends headers, then a byte now and then. */
  'trickles',
  'hangs_up',
  'rate_limits',
  'breaks',
  'overloaded',
  /** Text that is no JSON, whatever was asked for. */
  'nonsense',
  /** JSON of another form. */
  'other_form',
  'refuses',
  'filters',
  /** Ends at its longest length. */
  'cut_off',
  /** 10 MB. */
  'huge',
  /** An error with status 200, as some proxies send it. */
  'error_as_answer',
  'page',
  'redirects',
  /** Does what the transcript asks it to do. */
  'obeys_caller',
] as const;
export type ChatBehaviour = (typeof CHAT_BEHAVIOURS)[number];

export const MODEL_PREFIX = 'emulated-';

/** `emulated-1` answers; `emulated-<behaviour>` does that, always; another model is not there. */
export function behaviourOfModel(model: string): ChatBehaviour | null {
  if (!model.startsWith(MODEL_PREFIX)) return null;
  const name = model.slice(MODEL_PREFIX.length).replaceAll('-', '_');
  if (name === '1') return 'answers';
  return CHAT_BEHAVIOURS.find((behaviour) => behaviour === name) ?? null;
}
