/**
 * The options that `skillcell serve` has, from the command line itself.
 *
 * @module
 */
import { Command } from 'commander';
import { addService } from '../../src/cli/service-commands.ts';

export function serveOptions(): string[] {
  return serveCommand()?.options.flatMap(({ long }) => long ?? []) ?? [];
}

/** The value of an option that nobody gave. */
export function serveDefault(name: string): unknown {
  return serveCommand()?.options.find(({ long }) => long === name)?.defaultValue;
}

function serveCommand(): Command | undefined {
  const program = new Command();
  addService(program, () => undefined);
  return program.commands.find((command) => command.name() === 'serve');
}
