/** Results as JUnit XML, which continuous integration reads: a suite a file, a case a scenario. Pure. */
import { failureLines, percent } from './report.ts';
import type { ScenarioResult } from './run-scenario.ts';

export function junitXml(results: readonly ScenarioResult[]): string {
  const files = [...new Set(results.map(({ file }) => file))];
  const suites = files.map((file) => {
    const own = results.filter((one) => one.file === file);
    return `  <testsuite name=${quoted(file)} ${countsOf(own)}>\n${own.map(caseXml).join('\n')}\n  </testsuite>`;
  });
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="parley agent test" ${countsOf(results)}>\n${suites.join('\n')}\n</testsuites>\n`;
}

function countsOf(results: readonly ScenarioResult[]): string {
  const failures = results.filter(({ outcome }) => outcome === 'failed').length;
  const errors = results.filter(({ outcome }) => outcome === 'unjudged').length;
  const seconds = results.reduce((sum, one) => sum + secondsOf(one), 0);
  const skipped = results.filter(({ outcome }) => outcome === 'skipped').length;
  return `tests="${results.length}" failures="${failures}" errors="${errors}" skipped="${skipped}" time="${seconds.toFixed(3)}"`;
}

const secondsOf = ({ runs }: ScenarioResult): number => runs.reduce((sum, { ms }) => sum + ms, 0) / 1_000;

function caseXml(result: ScenarioResult): string {
  const { file, name, runs, passed, minPassRate, outcome } = result;
  const head = `    <testcase classname=${quoted(file)} name=${quoted(name)} time="${secondsOf(result).toFixed(3)}">`;
  if (outcome === 'skipped') return `${head}\n      <skipped message=${quoted(result.why ?? '')}/>\n    </testcase>`;
  const property = (key: string, value: string): string => `<property name="${key}" value=${quoted(value)}/>`;
  const properties = `      <properties>${property('runs', String(runs.length))}${property('passed', String(passed))}${property('passRate', String(passed / runs.length))}</properties>`;
  if (outcome === 'passed') return `${head}\n${properties}\n    </testcase>`;
  const element = outcome === 'failed' ? 'failure' : 'error';
  const message = `${passed} of ${runs.length} passed, ${percent(minPassRate)} wanted`;
  const body = failureLines(runs)
    .map((line) => line.trimStart())
    .join('\n');
  return `${head}\n${properties}\n      <${element} message=${quoted(message)}>${escaped(body)}</${element}>\n    </testcase>`;
}

const quoted = (text: string): string => `"${escaped(text).replaceAll('\n', '&#10;')}"`;

function escaped(text: string): string {
  return (
    text
      // XML 1.0 cannot hold controls and halves of characters.
      .replace(/[^\P{Cc}\n\r\t]|\p{Cs}|[\ufffe\uffff]/gu, '')
      .replaceAll('&', '&amp;')
      .replaceAll('<', '&lt;')
      .replaceAll('>', '&gt;')
      .replaceAll('"', '&quot;')
  );
}
