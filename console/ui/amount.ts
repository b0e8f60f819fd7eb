/** `740 B`, `12 kB`, `3.4 MB`: powers of ten, as file managers have them. */
export function bytesWords(bytes: number): string {
  if (bytes < 1_000) return `${bytes} B`;
  if (bytes < 1e6) return `${Math.round(bytes / 1_000)} kB`;
  if (bytes < 1e9) return `${(bytes / 1e6).toFixed(1)} MB`;
  return `${(bytes / 1e9).toFixed(1)} GB`;
}
