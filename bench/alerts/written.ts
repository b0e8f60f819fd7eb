/** What operators are given to load, as it lies in `deploy/`: alerts for Prometheus, the dashboard for Grafana. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../src/config/built-entry.ts';

export const ALERTS_FILE = join(packageRoot(), 'deploy/prometheus/alerts.yml');
const DASHBOARD_FILE = join(packageRoot(), 'deploy/grafana/parley.json');

interface Panel {
  title: string;
  targets?: { expr: string }[];
}

export interface DashboardQuery {
  panel: string;
  expr: string;
}

export function alertNames(): string[] {
  return [...readFileSync(ALERTS_FILE, 'utf8').matchAll(/^\s+- alert: (\w+)$/gm)].map(([, name]) => name!);
}

/** The rules, in minutes what takes hours. `window`: of every range and offset; `wait`: before an alert fires. */
export function shortenedAlerts(window: string, wait: string): string {
  return readFileSync(ALERTS_FILE, 'utf8')
    .replaceAll(/\[\d+[smhd]\]/g, `[${window}]`)
    .replaceAll(/offset \d+[smhd]/g, `offset ${window}`)
    .replaceAll(/^(\s+for:) .*$/gm, `$1 ${wait}`);
}

export function dashboardQueries(): DashboardQuery[] {
  const { panels } = JSON.parse(readFileSync(DASHBOARD_FILE, 'utf8')) as { panels: Panel[] };
  return panels.flatMap(({ title, targets = [] }) => targets.map(({ expr }) => ({ panel: title, expr })));
}

/** Names of series that a text of rules or queries has. */
export function seriesIn(text: string): Set<string> {
  return new Set(text.match(/\bparley_\w+/g));
}
