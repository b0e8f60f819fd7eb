/** FNV-1a over UTF-16 units, 32 bits as eight hexadecimal digits: tells texts apart where nobody means harm. Pure. */
export function shortHash(text: string): string {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) {
    hash = Math.imul(hash ^ (text.charCodeAt(i) & 0xff), 0x01000193);
    hash = Math.imul(hash ^ (text.charCodeAt(i) >> 8), 0x01000193);
  }
  return (hash >>> 0).toString(16).padStart(8, '0');
}
