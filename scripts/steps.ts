/**
 * The checks that need no test runner, each a program to run. Shared by `npm run check` and `npm test`.
 *
 * @module
 */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

export const ROOT: string = fileURLToPath(new URL('..', import.meta.url));

/** Code for browsers has other globals. */
export const WEB_CONFIG = 'src/web/tsconfig.json';

/** One check: it passes when `run` returns true. */
export interface Step {
  readonly title: string;
  readonly run: () => boolean;
}

export const STATIC_STEPS: readonly Step[] = [
  { title: 'format', run: () => runTool('oxfmt', ['--check', '.']) },
  { title: 'lint', run: () => runTool('oxlint', ['--type-aware', '--deny-warnings']) },
  { title: 'types', run: () => runTool('tsc', ['-p', 'tsconfig.json']) },
  { title: 'types of the console', run: () => runTool('tsc', ['-p', WEB_CONFIG]) },
];

/** Runs a step with its title above its output, and reports if it fails. */
export function passes(step: Step): boolean {
  console.log(`\n== ${step.title}`);
  const passed = step.run();
  if (!passed) console.log(`== ${step.title} failed`);
  return passed;
}

/** Runs a development tool of this project on the same Node. */
export function runTool(
  tool: string,
  args: readonly string[],
  options: { env?: NodeJS.ProcessEnv } = {},
): boolean {
  return runProgram(process.execPath, [`${ROOT}node_modules/.bin/${tool}`, ...args], options);
}

/** Runs a program with inherited output; true if it exited with 0. */
export function runProgram(
  program: string,
  args: readonly string[],
  options: { cwd?: string; env?: NodeJS.ProcessEnv } = {},
): boolean {
  const result = spawnSync(program, args, { cwd: ROOT, stdio: ['ignore', 'inherit', 'inherit'], ...options });
  if (result.error !== undefined) console.log(`"${program}" did not start: ${result.error.message}`);
  return result.status === 0;
}
