/**
 * What all commands have, such as an example and code that is loaded when they run, and the options that several share.
 *
 * @module
 */
import { Command, Option } from 'commander';
import { SkillError } from '../errors.ts';
import { MODE_NAMES } from '../vocabulary/modes.ts';

/** Receives the exit code of a command. `main` prints a thrown SkillError. */
export type Done = (exitCode: number) => void;

/** Gets the arguments and then the options, and returns the exit code. */
type Run = (...given: never[]) => number | Promise<number>;

export class CliCommand extends Command {
  readonly #done: Done;

  constructor(done: Done, name?: string) {
    super(name);
    this.#done = done;
  }

  override createCommand(name?: string): CliCommand {
    return new CliCommand(this.#done, name);
  }

  json(description = 'print JSON'): this {
    return this.option('--json', description);
  }

  /** An option that may be given several times. `used` is what the command uses if it is absent. */
  repeatable(flags: string, description: string, used?: string): this {
    const note = used === undefined ? '' : ` (default: ${used})`;
    return this.option(flags, `${description}; repeatable${note}`, collect);
  }

  /** An option with a closed list of values. */
  choice(flags: string, description: string, values: readonly string[]): this {
    return this.addOption(new Option(flags, description).choices(values));
  }

  /** Adds options that several commands share. */
  use(...sets: readonly ((command: CliCommand) => CliCommand)[]): this {
    for (const addTo of sets) addTo(this);
    return this;
  }

  example(line: string): this {
    return this.addHelpText('after', `\nExample:\n  $ skillcell ${line}`);
  }

  /** The words after the first argument are a command of a skill, which must come after `--`. */
  afterDashes(): this {
    return this.hook('preAction', (_, command) => assertSeparated(command, command.args.slice(1)));
  }

  /** Loads the code of a command only when it runs. */
  runs(load: () => Promise<Run>): this {
    return this.action(async (...given: unknown[]) => {
      const run = await load();
      // The last one is the command itself.
      this.#done(await run(...(given.slice(0, -1) as never[])));
    });
  }
}

/** Adds a command. Arguments that need no explanation are part of its usage, such as `lock <skill>`. */
export function define(parent: CliCommand, usage: string, description: string): CliCommand {
  return parent.command(usage).description(description);
}

/** Adds the command that runs if only the name of its group is given. */
export function defineDefault(group: CliCommand, usage: string, description: string): CliCommand {
  return group.command(usage, { isDefault: true }).description(description);
}

/**
 * Every word of a command of a skill must come after `--`. Before it, an argument of the script such as `--write out` would be
 * an option of ours, and give the script a permission.
 */
function assertSeparated(command: Command, words: readonly string[]): void {
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
export function withPlanOptions(command: CliCommand): CliCommand {
  return command
    .option('--isolated', 'refuse every mode weaker than subprocess')
    .option(
      '--trust-remote-code',
      'let a skill that is not bundled run in_process, with all permissions of your account',
    )
    .choice('--execution <mode>', 'mode to run in, one of those the manifest allows', MODE_NAMES)
    .option('--timeout <duration>', 'lower the time limit, e.g. 5s')
    .option('--memory <size>', 'lower the memory limit, e.g. 64MiB')
    .option('--workspace <dir>', 'folder that ${workspace} in the manifest stands for')
    .repeatable('--env <name>', 'variable or secret that the skill may use without approval')
    .option('--policy <file>', 'operator policy (default: every skillcell.policy.yaml here and above)');
}

/** What a person gives to one call of an Agent Skills folder; agents and clients cannot. */
export function withGrantOptions(command: CliCommand): CliCommand {
  return command
    .repeatable('--write <path>', 'file or folder that a script may change: in the workspace, or absolute')
    .repeatable(
      '--host <host>',
      'host that a script may reach: NAME or NAME:PORT for https, http://NAME:PORT',
    )
    .repeatable('--program <name>', 'system program that the command of a script may start')
    .option('--processes <n>', 'number of processes that a script may start', Number);
}

/** Options that decide which skills are offered. */
export function withOfferOptions(command: CliCommand): CliCommand {
  return command
    .repeatable(
      '--skills <glob>',
      'only skills whose id matches, such as "finance/*", or that are in a folder, such as ./vendor',
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
export function withPoolOptions(command: CliCommand): CliCommand {
  return command
    .repeatable('--cluster-pool <name>', 'pool that may run calls, in order of preference')
    .option('--cluster-wait <duration>', 'time that a call may wait for a worker (default: 30s)');
}

/** Options of processes that belong to a cluster. */
export function withClusterOptions(command: CliCommand): CliCommand {
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

function collect(value: string, before: string[] = []): string[] {
  return [...before, value];
}
