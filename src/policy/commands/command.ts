/**
 * A command of a skill of kind `script`, from the words of the caller to what the cell starts. Plain data.
 *
 * @module
 */
import type { CommandOrigin, Runner } from '../../vocabulary/commands.ts';

/** The words as the caller gave them, and what planning has to know about the standard input. */
export interface GivenCommand {
  words: readonly string[];
  /** sha256 of the standard input, which may be the source of a program. */
  stdinDigest: string;
}

/** What to start. Paths are those of the cell. */
export type Start =
  | { run: 'file'; path: string }
  | { run: 'module'; name: string }
  /** Without `source`, the standard input is the source. */
  | { run: 'source'; name: string; source?: string }
  | { run: 'program'; path: string };

export interface Command {
  runner: Runner;
  origin: CommandOrigin;
  start: Start;
  args: readonly string[];
  /** sha256 of generated code. */
  digest?: string;
}

/** A command whose parts that depend on the grant are still open. */
export interface ParsedCommand extends Omit<Command, 'start'> {
  start: Start | { run: 'workspace_file'; path: string } | { run: 'system'; name: string };
}
