/**
 * How the commands of a skill of kind `script` are run, and where their code comes from.
 *
 * @module
 */

export interface RunnerRow {
  /** `limits.processes` if neither the manifest nor an overlay declares it. */
  processes: number;
  meaning: string;
}

const RUNNERS = {
  python: { processes: 0, meaning: 'the Python of the cell' },
  node: { processes: 0, meaning: 'the Node of the cell' },
  // A shell that starts nothing does nothing.
  program: { processes: 16, meaning: 'a shell or another program of the system' },
} as const;

export type Runner = keyof typeof RUNNERS;

/** With one row type, for lookups by name. */
export const RUNNER_ROWS: Readonly<Record<Runner, RunnerRow>> = RUNNERS;

const COMMAND_ORIGINS = {
  bundle: { meaning: 'a file of the bundle' },
  package: { meaning: 'a module of its pinned packages' },
  generated: { meaning: 'code that came with the call, usually written by a model' },
  system: { meaning: 'a program of the system that the grant names' },
} as const;

export type CommandOrigin = keyof typeof COMMAND_ORIGINS;
