/**
 * A part of the report: a heading, its contents, and the plots in it. Made by `sections/`, put together by `page.ts`.
 */
import type { Chart } from './chart.ts';
import type { Html } from './html.ts';

export interface Section {
  /** Of its element, for the links at the top. */
  id: string;
  title: string;
  /** For the links. */
  short: string;
  body: Html;
  charts: Chart[];
}
