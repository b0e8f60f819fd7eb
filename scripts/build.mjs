/**
 * `npm run build`, and what every command does when a source is newer than `dist/`: the sources, the widget, the
 * console and the API reference. Ends with 1 where the widget or the console is over its budget.
 */
import { join } from 'node:path';
import { root } from './bootstrap.mjs';
import { buildConsole, reportConsole } from './build-console.mjs';
import { buildReference } from './build-reference.mjs';
import { buildSources } from './build-sources.mjs';
import { buildWidget, reportWidget } from './build-widget.mjs';

const [widget, browser] = await Promise.all([buildWidget(), buildConsole(), buildSources(root, join(root, 'dist'))]);
buildReference();
const isWithinBudgets = [reportWidget(widget), reportConsole(browser)].every(Boolean);
process.exit(isWithinBudgets ? 0 : 1);
