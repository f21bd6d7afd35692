/**
 * What several commands have in common.
 *
 * @module
 */
import { Option, type Command } from 'commander';

/** Commands report how they ended; a thrown SkillError is reported by main. */
export type Done = (exitCode: number) => void;

const MODES = ['in_process', 'subprocess', 'wasm', 'container'];

/** Options that decide what a call may do and where it runs. */
export function withPlanOptions(command: Command): Command {
  return command
    .option('--isolated', 'refuse every mode weaker than subprocess')
    .option(
      '--trust-remote-code',
      'let a skill that is not bundled run in_process, with everything you can do',
    )
    .addOption(new Option('--execution <mode>', 'one of the modes the manifest allows').choices(MODES))
    .option('--timeout <duration>', 'lower the time limit, e.g. 5s')
    .option('--memory <size>', 'lower the memory limit, e.g. 64MiB')
    .option('--workspace <dir>', 'the folder that ${workspace} in a manifest stands for')
    .option(
      '--env <name>',
      'a variable or secret that the skill may have though nobody approved it; may be repeated',
      collected,
    )
    .option('--policy <file>', 'operator policy (default: every skillcell.policy.yaml here and above)');
}

/** For an option that may be given several times. */
export function collected(value: string, before: string[] = []): string[] {
  return [...before, value];
}

export function example(command: string): string {
  return `\nExample:\n  $ skillcell ${command}`;
}
