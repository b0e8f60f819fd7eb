/**
 * What media leaves in the run folder, once, for `parley doctor`: a proxy seems to stand before the service that is not
 * trusted.
 */
export interface ProxySeen {
  /** Whose connection it was. */
  peer: string;
  /** What it wrote: `x-forwarded-for`, `forwarded` or `via`. */
  header: string;
}

export const PROXY_SEEN_FILE = 'proxy-seen.json';
