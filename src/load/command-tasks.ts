/**
 * The worker-thread task that searches a large bundle for commands.
 *
 * @module
 */
import { besideThis, type Task, type Tasks } from '../offload/task.ts';
import type { Kind } from '../vocabulary/kinds.ts';
import { findCommands, type Commands } from './commands.ts';

interface CommandInput {
  stagedDir: string;
  paths: readonly string[];
  kind: Kind;
}

export const FIND_COMMANDS: Task<CommandInput, Commands> = {
  module: besideThis(import.meta.url, './command-tasks'),
  name: 'findCommands',
};

export const tasks: Tasks = {
  findCommands: ({ stagedDir, paths, kind }: CommandInput): Commands =>
    findCommands(stagedDir, paths, { kind }),
};
