/**
 * The body of `POST Call/` as the carrier checks it. Called by the REST API; pure. One fault at a time, in words like
 * Plivo's (`from parameter is invalid.`); its exact texts are published for a few of them only.
 */

export interface Placement {
  from: string;
  /** Digits as given, or a SIP URI. */
  to: string;
  answerUrl: string;
  answerMethod: 'GET' | 'POST';
  ringUrl: string | null;
  ringMethod: 'GET' | 'POST';
  hangupUrl: string | null;
  hangupMethod: 'GET' | 'POST';
  fallbackUrl: string | null;
  fallbackMethod: 'GET' | 'POST';
  ringTimeoutSeconds: number;
  timeLimitSeconds: number;
  hangupOnRingSeconds: number | null;
}

/** One placement for each destination of a bulk request, or the error text. */
export function checkPlacement(
  body: Record<string, unknown>,
  ownNumbers: readonly string[] | null,
): Placement[] | { error: string } {
  for (const name of ['from', 'to', 'answer_url']) {
    if (textOf(body, name) === '') return { error: `${name} parameter not present` };
  }
  const from = textOf(body, 'from').replace(/^\+/, '');
  const destinations = textOf(body, 'to')
    .split('<')
    .map((to) => to.trim().replace(/^\+/, ''));
  if (!/^\d{3,15}$/.test(from)) return { error: 'from parameter is invalid.' };
  if (ownNumbers !== null && !ownNumbers.some((own) => own.replace(/^\+/, '') === from))
    return { error: 'from parameter is invalid.' };
  if (!destinations.every((to) => /^\d{7,15}$/.test(to) || /^sips?:\S+@\S+$/.test(to)))
    return { error: 'to parameter is invalid.' };

  const urls: Record<string, string | null> = {};
  const methods: Record<string, 'GET' | 'POST'> = {};
  for (const name of ['answer', 'ring', 'hangup', 'fallback']) {
    const url = textOf(body, `${name}_url`);
    if (url !== '' && !URL.canParse(url)) return { error: `${name}_url parameter is invalid.` };
    if (url !== '' && !/^https?:/.test(url)) return { error: `${name}_url parameter is invalid.` };
    urls[name] = url === '' ? null : url;
    const method = textOf(body, `${name}_method`).toUpperCase() || 'POST';
    if (method !== 'GET' && method !== 'POST') return { error: `${name}_method parameter is invalid.` };
    methods[name] = method;
  }

  const ranges = {
    ring_timeout: [1, 3_600, 120],
    time_limit: [1, 86_400, 14_400],
    hangup_on_ring: [0, 86_400, -1],
  } as const;
  const seconds: Record<string, number> = {};
  for (const [name, [least, most, otherwise]] of Object.entries(ranges)) {
    const given = textOf(body, name);
    const value = given === '' ? otherwise : Number(given);
    if (given !== '' && !(Number.isInteger(value) && value >= least && value <= most))
      return { error: `${name} parameter is invalid.` };
    seconds[name] = value;
  }
  if (textOf(body, 'caller_name').length > 50) return { error: 'caller_name parameter is invalid.' };
  if (!['', 'true', 'false', 'hangup'].includes(textOf(body, 'machine_detection')))
    return { error: 'machine_detection parameter is invalid.' };

  return destinations.map((to) => ({
    from,
    to,
    answerUrl: urls['answer']!,
    answerMethod: methods['answer']!,
    ringUrl: urls['ring']!,
    ringMethod: methods['ring']!,
    hangupUrl: urls['hangup']!,
    hangupMethod: methods['hangup']!,
    fallbackUrl: urls['fallback']!,
    fallbackMethod: methods['fallback']!,
    ringTimeoutSeconds: seconds['ring_timeout']!,
    timeLimitSeconds: seconds['time_limit']!,
    hangupOnRingSeconds: seconds['hangup_on_ring']! < 0 ? null : seconds['hangup_on_ring']!,
  }));
}

/** Numbers and booleans come as such in JSON and as text in a form. */
function textOf(body: Record<string, unknown>, name: string): string {
  const value = Object.hasOwn(body, name) ? body[name] : undefined;
  if (typeof value === 'string') return value.trim();
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : '';
}
