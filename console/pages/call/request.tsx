/** The request that made a call: whose it was, and what places the same call again. */
import { clientOf } from '../../api/request.ts';
import { requestWords as words } from '../../texts/en/call-request.ts';
import { Button } from '../../ui/button.tsx';
import { Copy, copyText } from '../../ui/copy.tsx';
import { useLoad } from '../../ui/load.ts';
import { Facts } from '../../ui/page.tsx';
import { Shown } from '../../ui/states.tsx';
import { Json, Words } from '../../ui/text.tsx';
import { Time } from '../../ui/time.tsx';

export function CallRequest({ enterprise, callUuid }: { enterprise: string; callUuid: string }) {
  const request = useLoad(
    async (signal) => (await clientOf(enterprise).readCallRequest({ callUuid }, { signal })).data,
    [enterprise, callUuid],
  );
  return (
    <section class="stack tight">
      <h2>{words.title}</h2>
      <Shown of={request} lines={3}>
        {({ actor, actorName, ip, at, requestId, operation, idempotencyKey, body }) => (
          <>
            <Facts
              facts={[
                [words.by, <Words key="by">{whoOf(actor, actorName)}</Words>],
                ...(ip === null ? [] : [[words.from, <code key="ip">{ip}</code>] as const]),
                [words.at, <Time key="at" at={at} isExact />],
                [
                  words.id,
                  <span key="id" class="line">
                    <code>{requestId}</code> <Copy text={requestId} />
                  </span>,
                ],
                ...(operation === null ? [] : [[words.operation, <code key="operation">{operation}</code>] as const]),
                ...(idempotencyKey === null ? [] : [[words.key, <code key="key">{idempotencyKey}</code>] as const]),
              ]}
            />
            {body === null ? null : (
              <>
                <div class="line apart">
                  <h3>{words.again}</h3>
                  <Button icon="copy" onPress={() => copyText(curlOf(body))}>
                    {words.copy}
                  </Button>
                </div>
                <Json value={body} />
              </>
            )}
          </>
        )}
      </Shown>
    </section>
  );
}

function whoOf(actor: string | null, name: string | null): string {
  if (actor === null || actor.startsWith('system:')) return words.nobody;
  return name === null ? actor : `${name} (${actor.split(':', 1)[0]})`;
}

/** For a POSIX shell; the key is the reader's own. */
function curlOf(body: object): string {
  const quoted = JSON.stringify(body).replaceAll("'", `'\\''`);
  return [
    `curl -X POST ${location.origin}/api/outbound-call`,
    `  -H "Authorization: Bearer $PARLEY_API_KEY"`,
    `  -H 'Content-Type: application/json'`,
    `  -d '${quoted}'`,
  ].join(' \\\n');
}
