/**
 * `npm run build`, and what every command does when a source is newer than `dist/`: the sources, the widget and the API
 * reference. Ends with 1 where the widget is over its budget.
 */
import { join } from 'node:path';
import { root } from './bootstrap.mjs';
import { buildReference } from './build-reference.mjs';
import { buildSources } from './build-sources.mjs';
import { buildWidget, reportWidget } from './build-widget.mjs';

const [widget] = await Promise.all([buildWidget(), buildSources(root, join(root, 'dist'))]);
buildReference();
process.exit(reportWidget(widget) ? 0 : 1);
