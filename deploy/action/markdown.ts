/**
 * The report for people: job summary, and body of a comment on a pull request. Everything that the author of a skill wrote
 * stands in code, so that it cannot become markup, a link or a mention.
 *
 * @module
 */
import { printableLine } from '../../src/inside.ts';
import { hasErrors, type Finding, type SkillReport } from './report.ts';

/** By it a later run finds its comment again. */
export const MARKER = '<!-- skillcell-report -->';
/** GitHub refuses comments of 65536 characters. */
const MAX_LENGTH = 60_000;
const MAX_FINDINGS = 50;

export function markdownOf(reports: readonly SkillReport[]): string {
  const failed = reports.filter((report) => hasErrors([report]));
  const verdict =
    failed.length === 0
      ? `${count(reports.length, 'skill')} checked, no errors`
      : `${failed.length} of ${count(reports.length, 'skill')} with errors`;
  const parts = [MARKER, `## Skillcell: ${verdict}`, tableOf(reports), ...reports.flatMap(detailsOf)];
  const text = `${parts.join('\n\n')}\n`;
  if (text.length <= MAX_LENGTH) return text;
  return `${text.slice(0, text.lastIndexOf('\n\n', MAX_LENGTH))}\n\n${closingFence(text)}The report is too long to be shown in full; see the SARIF file.\n`;
}

function tableOf(reports: readonly SkillReport[]): string {
  if (reports.length === 0) return 'There are no skills.';
  const rows = reports.map((report) => `| ${cellsOf(report).join(' | ')} |`);
  return [
    '| skill | change | lock | tests | capabilities | problems |',
    '| --- | --- | --- | --- | --- | --- |',
    ...rows,
  ].join('\n');
}

function cellsOf(report: SkillReport): string[] {
  const { dir, change, lock, cases, findings } = report;
  const [errors, warnings] = (['error', 'warning'] as const).map(
    (level) => findings.filter((finding) => finding.level === level).length,
  );
  const problems = [
    ...(errors ? [count(errors, 'error')] : []),
    ...(warnings ? [count(warnings, 'warning')] : []),
  ];
  return [
    code(dir).replaceAll('|', String.raw`\|`),
    change,
    change === 'removed' ? '–' : lock,
    cases ? `${cases.passed} of ${cases.total}` : '–',
    capabilityCell(report),
    problems.join(', ') || '–',
  ];
}

function capabilityCell({ capabilities }: SkillReport): string {
  if (!capabilities) return '–';
  const { added, removed } = capabilities;
  return added.length + removed.length === 0 ? 'the same' : `+${added.length} −${removed.length}`;
}

function detailsOf(report: SkillReport): string[] {
  const { dir, capabilities, sentences, findings } = report;
  const lines = [
    ...(capabilities?.added ?? []).map((line) => `+ ${printableLine(line)}`),
    ...(capabilities?.removed ?? []).map((line) => `- ${printableLine(line)}`),
  ];
  const shown = findings.filter(({ level }) => level !== 'note');
  const parts = [
    ...(lines.length > 0 ? [`\`\`\`diff\n${lines.join('\n')}\n\`\`\``] : []),
    ...(lines.length > 0 && sentences.length > 0
      ? [`In plain words, most dangerous first:\n\n${sentences.map((text) => `- ${code(text)}`).join('\n')}`]
      : []),
    ...(shown.length > 0 ? [findingList(shown)] : []),
  ];
  return parts.length === 0 ? [] : [`### ${code(dir)}`, ...parts];
}

function findingList(findings: readonly Finding[]): string {
  const rows = findings.slice(0, MAX_FINDINGS).map(({ level, file, line, message }) => {
    const place = line === undefined ? file : `${file}:${line}`;
    return `- **${level}** ${code(place)} ${code(message)}`;
  });
  const rest = findings.length - MAX_FINDINGS;
  return [...rows, ...(rest > 0 ? [`- and ${rest} more`] : [])].join('\n');
}

/** A code span whose text cannot end it. */
function code(text: string): string {
  const line = printableLine(text);
  const longest = Math.max(0, ...(line.match(/`+/g) ?? []).map((run) => run.length));
  const fence = '`'.repeat(longest + 1);
  return longest === 0 ? `${fence}${line}${fence}` : `${fence} ${line} ${fence}`;
}

/** If the cut is inside of a block of code, it has to be closed. */
function closingFence(text: string): string {
  const before = text.slice(0, text.lastIndexOf('\n\n', MAX_LENGTH));
  return (before.match(/^```/gm) ?? []).length % 2 === 1 ? '```\n\n' : '';
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}
