/** The syntax of `{{ key }}` and `{{key | fallback}}` (contract §3) in one text that the agent may say. */
import type { PathPart, Report } from '../errors/agent-faults.ts';

const KEY = /^[A-Za-z_][A-Za-z0-9_.-]{0,63}$/;

export function checkSpoken(text: string, at: readonly PathPart[], report: Report): void {
  const rest = text.replace(/\{\{([^{}]*)\}\}/g, (whole, inside: string) => {
    const key = (inside.split('|')[0] ?? '').trim();
    if (!KEY.test(key)) {
      report(
        at,
        `'${whole}' is no placeholder; write {{key}} or {{key | fallback}}, the key of letters, digits, _, . and -`,
      );
    } else if (key.startsWith('secret.')) {
      report(at, `'${whole}' would be spoken or written down; secret.* keys are for the headers of tools only`);
    }
    return '';
  });
  if (rest.includes('{{') || rest.includes('}}')) {
    report(at, `has '{{' and '}}' that do not pair; write {{key}} or {{key | fallback}}`);
  }
}
