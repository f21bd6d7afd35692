/**
 * Options that several commands share.
 *
 * @module
 */
import { Option, type Command } from 'commander';
import { SkillError } from '../errors.ts';
import { MODE_NAMES } from '../vocabulary/modes.ts';

/** Receives the exit code of a command. `main` prints a thrown SkillError. */
export type Done = (exitCode: number) => void;

/**
 * Every word of a command of a skill must come after `--`. Before it, an argument of the script such as `--write out` would be
 * an option of ours, and give the script a permission.
 */
export function assertSeparated(command: Command, words: readonly string[]): void {
  const root = command.parent ?? command;
  const given: unknown = 'rawArgs' in root ? root.rawArgs : process.argv;
  const all = Array.isArray(given) ? given : [];
  const end = all.indexOf('--');
  if (words.length <= (end === -1 ? 0 : all.length - end - 1)) return;
  throw new SkillError('usage', 'The command of the skill must come after "--"', {
    fix: `Write it as: skillcell ${command.name()} SKILL [OPTIONS] -- COMMAND`,
    detail: { words: [...words] },
  });
}

/** Options that decide what a call may do and where it runs. */
export function withPlanOptions(command: Command): Command {
  return command
    .option('--isolated', 'refuse every mode weaker than subprocess')
    .option(
      '--trust-remote-code',
      'let a skill that is not bundled run in_process, with all permissions of your account',
    )
    .addOption(
      new Option('--execution <mode>', 'mode to run in, one of those the manifest allows').choices(
        MODE_NAMES,
      ),
    )
    .option('--timeout <duration>', 'lower the time limit, e.g. 5s')
    .option('--memory <size>', 'lower the memory limit, e.g. 64MiB')
    .option('--workspace <dir>', 'folder that ${workspace} in the manifest stands for')
    .option('--env <name>', 'variable or secret that the skill may use without approval; repeatable', collect)
    .option('--policy <file>', 'operator policy (default: every skillcell.policy.yaml here and above)');
}

/** What a person gives to one call of an Agent Skills folder; agents and clients cannot. */
export function withGrantOptions(command: Command): Command {
  return command
    .option(
      '--write <path>',
      'file or folder that a script may change: in the workspace, or absolute; repeatable',
      collect,
    )
    .option(
      '--host <host>',
      'host that a script may reach: NAME or NAME:PORT for https, http://NAME:PORT; repeatable',
      collect,
    )
    .option('--program <name>', 'system program that the command of a script may start; repeatable', collect)
    .option('--processes <n>', 'number of processes that a script may start', Number);
}

/** Options that decide which skills are offered. */
export function withOfferOptions(command: Command): Command {
  return command
    .option(
      '--skills <glob>',
      'only skills whose id matches, such as "finance/*", or that are in a folder, such as ./vendor; repeatable',
      collect,
    )
    .option('--bundled', 'also offer the bundled skills (default: only if there are no others)');
}

/** How to reach a cluster. */
export interface ClusterFlags {
  cluster?: string;
  clusterKey?: string;
  clusterCa?: string;
  clusterCert?: string;
  clusterCertKey?: string;
  name?: string;
}

/** Where a front end sends calls. */
export function withPoolOptions(command: Command): Command {
  return command
    .option('--cluster-pool <name>', 'pool that may run calls, in order of preference; repeatable', collect)
    .option('--cluster-wait <duration>', 'time that a call may wait for a worker (default: 30s)');
}

/** Options of processes that belong to a cluster. */
export function withClusterOptions(command: Command): Command {
  return command
    .option(
      '--cluster <url>',
      'NATS servers of the cluster, such as nats://127.0.0.1:4222; separated by commas',
    )
    .option('--cluster-key <file>', 'file with the NKey of this process')
    .option('--cluster-ca <file>', 'certificate authority of the servers')
    .option('--cluster-cert <file>', 'client certificate')
    .option('--cluster-cert-key <file>', 'key of the client certificate')
    .option('--name <name>', 'name of this process in the cluster (default: the host name)');
}

/** For an option that may be repeated. */
export function collect(value: string, before: string[] = []): string[] {
  return [...before, value];
}

export function example(command: string): string {
  return `\nExample:\n  $ skillcell ${command}`;
}
