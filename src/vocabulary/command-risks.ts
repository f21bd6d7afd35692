/**
 * What a line of a shell script, or a command in a text for the model, does beyond starting a program.
 *
 * @module
 */

export const COMMAND_RISKS = {
  sudo: 'asks for the rights of another user',
  eval: 'runs text as a command',
  decoded: 'decodes text and runs it',
  writes_outside: 'writes outside of the skill and the workspace',
} as const;

export type CommandRisk = keyof typeof COMMAND_RISKS;
