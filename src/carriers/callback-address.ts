/** Where carriers report of a call; `src/api/carriers/carrier-routes.ts` listens there. No slash at its end. */
export function callbackBaseOf(publicUrl: string, carrier: string, callUuid: string): string {
  return `${publicUrl}/carriers/${carrier}/${callUuid}`;
}

/** What the carrier asks when a call's stream is over and the call is not, or when it is sent there. */
export function nextAddressOf(callbackBase: string): string {
  return `${callbackBase}/next`;
}
