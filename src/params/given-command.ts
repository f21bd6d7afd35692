/**
 * Reads a command from parameters that match `SCRIPT_PARAMETERS`.
 *
 * @module
 */
import { sha256 } from '../load/digest.ts';
import type { GivenCommand } from '../policy/commands/command.ts';

export function givenCommand(params: unknown): GivenCommand {
  const { command, stdin = '' } = params as { command: string[]; stdin?: string };
  return { words: command, stdinDigest: sha256(stdin) };
}
