/**
 * Prints what arrived, for a person who decides. All of it is untrusted text, so each line is escaped.
 *
 * @module
 */
import { type ProposalDescription, printableLine } from '../inside.ts';

export function describeArrival({ title, facts, asks, changes, warnings }: ProposalDescription): string {
  const lines = [
    title,
    ...facts.map(([label, text]) => `  ${label.padEnd(9)} ${text}`),
    '  It asks for:',
    ...asks.map(({ risk, text }) => `    ${risk.padEnd(6)} ${text}`),
    ...changes.map((line) => `  ${line}`),
    ...warnings.map((text) => `  warning: ${text}`),
  ];
  return lines.map((line) => printableLine(withoutGaps(line))).join('\n');
}

/** After a wide gap, a terminal goes on in the next row, where a stranger's words would look like a line of ours. */
function withoutGaps(line: string): string {
  const start = /^\s*\S* */.exec(line)?.[0] ?? '';
  return start + line.slice(start.length).replaceAll(/\s{3,}/g, ' […] ');
}
