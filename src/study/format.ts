/**
 * Formats a study as Markdown.
 *
 * @module
 */
import { PREFERRED_MODES } from '../vocabulary/modes.ts';
import type { ModeStudy, SkillStudy, StudyReport } from './report.ts';

const MIB = 1024 ** 2;
const GIB = 1024 ** 3;

/** Formats a study as Markdown. */
export function formatStudy(report: StudyReport): string {
  const { failures, skills } = report;
  const verdict =
    failures.length === 0
      ? `${skills.length} skills studied, nothing failed.`
      : `${skills.length} skills studied, ${failures.length} failures.`;
  const parts = [
    `# Study of ${report.folder}`,
    `${verdict} ${machineOf(report)}`,
    '## Results by mode',
    'Passed cases out of all cases. A mode that the skill does not list is in parentheses.',
    formatMatrix(report),
    '## Dependencies',
    formatDependencies(report),
    '## Cost of a call',
    formatStudyCosts(report),
    ...section('## Unsupported modes', reasonsOf(skills)),
    ...section('## Failures', failures),
  ];
  return `${parts.join('\n\n')}\n`;
}

function machineOf({ date, machine, skillcell }: StudyReport): string {
  const { cores, cpu, memoryBytes, kernel, node, load } = machine;
  return (
    `Skillcell ${skillcell}, ${date.slice(0, 10)}: ${cores} cores (${cpu}), ${(memoryBytes / GIB).toFixed(1)} GiB, ` +
    `Linux ${kernel}, Node ${node}; load ${load.toFixed(1)} at the end.`
  );
}

export function formatMatrix({ skills }: StudyReport): string {
  const columns = PREFERRED_MODES.filter((mode) =>
    skills.some(({ modes }) => modes.some((one) => one.mode === mode)),
  );
  return table([
    ['skill', 'language', 'class', ...columns],
    ...skills.map(({ path, name, language = '', dependencies, modes, problem }) => [
      name === path ? path : name,
      language,
      problem && modes.length === 0 ? problem.text : dependencies.map((one) => one.class).join(', '),
      ...columns.map((mode) => cellOf(modes.find((one) => one.mode === mode))),
    ]),
  ]);
}

export function formatDependencies({ skills }: StudyReport): string {
  const rows = skills.flatMap(({ name, dependencies }) =>
    dependencies
      .filter((one) => one.class !== 'pure')
      .map((one) => [name, one.class, one.because.join(', ')]),
  );
  const unknown = skills.filter(({ dependencies }) => dependencies.length === 0).length;
  const remark =
    unknown === 0
      ? ''
      : `${unknown} of ${skills.length} folders do not load, so nothing is known about them.`;
  if (rows.length === 0) return remark === '' ? 'All skills are pure.' : remark;
  return `${table([['skill', 'class', 'reason'], ...rows])}\n\nImport effects and state are found by reading the source, not by running it.${remark === '' ? '' : ` ${remark}`}`;
}

export function formatStudyCosts({ skills }: StudyReport): string {
  const rows = skills.flatMap(({ name, bundleBytes, modes }) =>
    modes
      .filter((one) => one.firstCallMs !== undefined)
      .map((one) => [
        name,
        one.mode,
        `${one.wall ?? ''} + ${one.engine ?? ''}`,
        milliseconds(one.firstCallMs, 0),
        milliseconds(one.callMs, 1),
        size(one.memoryBytes),
        size(one.packageBytes),
        size(bundleBytes),
      ]),
  );
  return table([['skill', 'mode', 'cell', 'first call', 'call', 'memory', 'packages', 'bundle'], ...rows]);
}

function reasonsOf(skills: readonly SkillStudy[]): string[] {
  return skills.flatMap(({ name, modes, problem }) => [
    ...(problem && modes.length > 0 ? [`${name}: ${problem.text}`] : []),
    // Modes that the skill does not list need no explanation.
    ...modes.flatMap(({ mode, reason, isListed }) =>
      reason === undefined || !isListed ? [] : [`${name} in ${mode}: ${reason}`],
    ),
  ]);
}

function section(title: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : [title, lines.map((line) => `- ${oneLine(line)}`).join('\n')];
}

function cellOf(mode: ModeStudy | undefined): string {
  if (!mode) return '';
  const text =
    mode.status === 'works' || mode.status === 'fails' ? `${mode.fitting}/${mode.cases}` : mode.status;
  const marked = mode.status === 'fails' ? `**${text}**` : text;
  return mode.isListed ? marked : `(${marked})`;
}

function milliseconds(ms: number | undefined, digits: number): string {
  return ms === undefined ? '' : `${ms.toFixed(digits)} ms`;
}

function size(bytes: number | undefined): string {
  if (bytes === undefined) return '';
  return bytes < MIB ? `${Math.ceil(bytes / 1024)} KiB` : `${(bytes / MIB).toFixed(1)} MiB`;
}

/** A Markdown table with the first row as its header. Text that would end a cell is escaped. */
export function table([head = [], ...rows]: readonly string[][]): string {
  return [head, head.map(() => '---'), ...rows]
    .map((row) => `| ${row.map((cell) => oneLine(cell).replaceAll('|', String.raw`\|`)).join(' | ')} |`)
    .join('\n');
}

/** Reduces untrusted text to one line without markup. */
function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').replaceAll('<', '&lt;');
}
