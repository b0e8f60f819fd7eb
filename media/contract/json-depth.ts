/**
 * How deep JSON of strangers may be nested: bodies of requests, answers of tools. `JSON.parse` takes any depth, while
 * `JSON.stringify`, `postMessage` and whatever walks a value by recursion throw at some thousand levels; so it is asked
 * right after parsing. Pure.
 */

export const DEEPEST_JSON = 32;

/** True when nested deeper than 32 levels: such a value is refused before anything walks it by recursion. */
export function isTooDeep(value: unknown, deepest = DEEPEST_JSON): boolean {
  let level: unknown[] = [value];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > deepest) return true;
    level = level.flatMap((item) =>
      typeof item === 'object' && item !== null
        ? Object.values(item).filter((inner) => typeof inner === 'object' && inner !== null)
        : [],
    );
  }
  return false;
}
