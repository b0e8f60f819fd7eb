/**
 * What web sessions never get of a workspace's calls at once (contract §11): what was set, or half of them, rounded up.
 * A workspace with one call at once keeps none unless it says so: rounded up, its half would be all of it.
 */

/** SQL, over a row of `workspaces`. */
export const KEPT_FOR_PHONE =
  'coalesce(phone_calls_kept, least((max_concurrent_calls + 1) / 2, greatest(0, max_concurrent_calls - 1)))';
