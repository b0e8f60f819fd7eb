/** What was typed as a list: one a line, or separated by commas. */
export const listOf = (text: string): string[] =>
  text
    .split(/[\n,]/)
    .map((one) => one.trim())
    .filter((one) => one !== '');
