/**
 * Findings as workflow commands, which GitHub shows beside the changed lines.
 *
 * @module
 */
import { printableLine } from '../../src/inside.ts';
import { RULES, type Finding } from './report.ts';

const COMMANDS = { error: 'error', warning: 'warning', note: 'notice' } as const;

export function annotationOf({ rule, level, message, file, line }: Finding): string {
  const properties = [`file=${property(file)}`, `line=${line ?? 1}`, `title=${property(RULES[rule])}`];
  return `::${COMMANDS[level]} ${properties.join(',')}::${data(printableLine(message))}`;
}

/** As GitHub's own toolkit escapes them: nothing may end a command or start another. */
function data(text: string): string {
  return text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}

function property(text: string): string {
  return data(text).replaceAll(':', '%3A').replaceAll(',', '%2C');
}
