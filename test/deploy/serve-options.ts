/**
 * The options of commands that the files of `deploy/` start, from the command line itself.
 *
 * @module
 */
import type { Command } from 'commander';
import { CliCommand } from '../../src/cli/shared-options.ts';
import { addCluster } from '../../src/cli/cluster-commands.ts';
import { addService } from '../../src/cli/service-commands.ts';

export function serveOptions(): string[] {
  return optionsOf('serve');
}

/** The options of a command, such as `serve` or `cluster setup`. */
export function optionsOf(...names: readonly string[]): string[] {
  return commandOf(names)?.options.flatMap(({ long }) => long ?? []) ?? [];
}

/** The value of an option that nobody gave. */
export function serveDefault(name: string): unknown {
  return defaultOf(name, 'serve');
}

export function defaultOf(option: string, ...names: readonly string[]): unknown {
  return commandOf(names)?.options.find(({ long }) => long === option)?.defaultValue;
}

function commandOf(names: readonly string[]): Command | undefined {
  const program = new CliCommand(() => undefined);
  addService(program);
  addCluster(program);
  return names.reduce<Command | undefined>(
    (command, name) => command?.commands.find((one) => one.name() === name),
    program,
  );
}
