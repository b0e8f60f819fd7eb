/**
 * Labels whose values others name, models of providers say, kept to so many: what comes after those is `other`. Used by
 * the metrics of control.
 */
const OTHER = 'other';

const LONGEST_LABEL_CHARS = 60;

export class BoundedLabels {
  readonly #most: number;
  readonly #known = new Set<string>();

  constructor(most: number) {
    this.#most = most;
  }

  /** `group`: with which it makes one series, a provider's name. */
  of(group: string, value: string): string {
    const label = value.slice(0, LONGEST_LABEL_CHARS);
    const key = `${group}\n${label}`;
    if (this.#known.has(key)) return label;
    if (this.#known.size >= this.#most) return OTHER;
    this.#known.add(key);
    return label;
  }
}
