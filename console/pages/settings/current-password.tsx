/** The password once more, before what somebody at a session that was left open must not do. */
import { accountWords as words } from '../../texts/en/settings.ts';
import { Text } from '../../ui/field.tsx';

export function Current(props: { value: string; fault: string | undefined; onInput(value: string): void }) {
  return <Text label={words.current} type="password" autocomplete="current-password" isRequired {...props} />;
}
