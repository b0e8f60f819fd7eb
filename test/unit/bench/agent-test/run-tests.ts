/** Runs `parley agent test` inside a test, and collects what it writes. Files that it reads are made here. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestOptions, testCommand } from '../../../../bench/agent-test/test-command.ts';
import { packageRoot } from '../../../../src/config/built-entry.ts';

export const shipped = (name: string): string => join(packageRoot(), 'bench/agent-test/scenarios', name);
export const demoAgent = (name: string): string => join(packageRoot(), 'bench/demo', name);

export class TestFolder {
  readonly path = mkdtempSync(join(tmpdir(), 'parley-agent-test-'));

  write(name: string, content: unknown): string {
    const path = join(this.path, name);
    writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
    return path;
  }

  remove(): void {
    rmSync(this.path, { recursive: true, force: true });
  }

  /** `files` are paths; options as the command line's. */
  async run(
    files: readonly string[],
    options: Partial<TestOptions> = {},
    environment: Record<string, string> = {},
  ): Promise<{ code: number; out: string }> {
    let out = '';
    const code = await testCommand(
      {
        files,
        audio: false,
        repeat: undefined,
        minPassRate: undefined,
        only: undefined,
        junit: undefined,
        keep: join(this.path, 'kept'),
        watch: false,
        compare: null,
        ...options,
      },
      {
        terminal: {
          environment,
          write: (text) => {
            out += text;
          },
          writeError: (text) => {
            out += text;
          },
          readInput: async () => '',
        },
        audioHolder: () => Promise.reject(new Error('no sound here')),
        stop: new AbortController().signal,
      },
    );
    return { code, out };
  }
}

/** A shipped scenario file, its own files named whole, so that a copy may lie anywhere. */
export function shippedCopy(name: string): Record<string, unknown> {
  const content = JSON.parse(readFileSync(shipped(name), 'utf8')) as Record<string, unknown>;
  const whole = (path: unknown): string => join(packageRoot(), 'bench/agent-test/scenarios', String(path));
  const { model } = content as { model?: { emulated: string } };
  return {
    ...content,
    agent: whole(content['agent']),
    ...(model === undefined ? {} : { model: { emulated: whole(model.emulated) } }),
  };
}
