/**
 * The tables of docs/agent-skills.md, from the saved result of `npm run agent-skills -- --save`.
 *
 * @module
 */
import type { AnswerKind } from '../agent-skills/classify.ts';
import type { AgentSkillsReport, RepositoryReport } from '../agent-skills/report.ts';

const DASH = '–';

function table(rows: readonly (readonly string[])[]): string {
  const [header = [], ...body] = rows;
  return [header, header.map(() => '---'), ...body].map((row) => `| ${row.join(' | ')} |`).join('\n');
}

const commitOf = ({ name, commit }: { name: string; commit: string }): string =>
  commit === '' ? name : `${name} at \`${commit.slice(0, 8)}\``;

/** Which folders load, and how many break which rule. */
export function formatAgentSkillLoads({ repositories }: AgentSkillsReport): string {
  const rows = repositories.map((repository) => [
    commitOf(repository),
    `${repository.loads} of ${repository.folders}`,
    `${repository.followingLoads} of ${repository.following}`,
    Object.entries(repository.rules)
      .map(([rule, count]) => `\`${rule}\` ${count}`)
      .join(', ') || DASH,
  ]);
  return table([
    ['repository', 'folders that load', 'of those that follow the specification', 'broken rules'],
    ...rows,
  ]);
}

/** What scripts answered in a jail and in Wasm. */
export function formatAgentSkillAnswers({ repositories }: AgentSkillsReport): string {
  const asked = repositories.filter(({ asked }) => asked.length > 0);
  const header = [
    'repository',
    'scripts',
    'answer in a jail',
    'no usage',
    'need',
    'denied',
    'failed',
    'answer in Wasm',
    'with built wheels',
    'the same bytes in both',
  ];
  return table([header, ...asked.map(answersOf)]);
}

function answersOf(repository: RepositoryReport): string[] {
  const jail = (kind: AnswerKind): number => repository.asked.filter((one) => one.jail.kind === kind).length;
  const wasm = repository.asked.filter((one) => one.wasm.kind === 'answered').length;
  const built = repository.asked.filter((one) => (one.built ?? one.wasm).kind === 'answered').length;
  const both = repository.asked.filter(({ same }) => same !== undefined);
  const { length } = repository.asked;
  const share = (count: number): string => `${count} (${Math.floor((count / length) * 100)} %)`;
  return [
    repository.name,
    String(length),
    share(jail('answered')),
    ...[jail('argument'), jail('needs'), jail('denied'), jail('failed') + jail('refused')].map(String),
    share(wasm),
    share(built),
    `${both.filter(({ same }) => same).length} of ${both.length}`,
  ];
}

/** Scripts of the first repository that gave no usage, and why. */
export function formatAgentSkillReasons({ repositories: [first] }: AgentSkillsReport): string {
  const silent = first?.asked.filter(({ jail }) => jail.kind !== 'answered') ?? [];
  const rows = silent.map(({ skill, script, jail }) => [
    `\`${skill}/${script}\``,
    jail.kind === 'argument' ? 'no usage' : jail.kind,
    `\`${jail.why.replaceAll(/[`|\n]/g, ' ').slice(0, 120)}\``,
  ]);
  return table([['script', 'result', 'reason'], ...rows]);
}

/** Why scripts that answer in a jail do not in Wasm, and what the scripts that answer import of Python that Wasm lacks. */
export function formatAgentSkillWasm({ repositories: [first] }: AgentSkillsReport): string {
  const asked = first?.asked ?? [];
  const missing = asked.filter(({ jail, wasm }) => jail.kind === 'answered' && wasm.kind !== 'answered');
  const reasons = Map.groupBy(missing, ({ wasm }) => reasonInWasm(wasm.why));
  const rows = [...reasons].map(([reason, scripts]) => [reason, String(scripts.length)]);
  const lacking = asked.filter(({ lacks = [] }) => lacks.length > 0);
  return [
    table([['why not in Wasm, though in a jail', 'scripts'], ...rows]),
    `Of all ${asked.length} scripts, ${lacking.length} load modules for processes, threads or sockets.`,
  ].join('\n\n');
}

function reasonInWasm(why: string): string {
  const [, module] = /it imports (\S+) \(/.exec(why) ?? [];
  if (module !== undefined) return `imports \`${module}\`, which has no package for Wasm`;
  return why.includes('only Python commands') ? 'is not Python' : why.replaceAll(/[|\n]/g, ' ').slice(0, 120);
}

export function formatAgentSkillTasks({ tasks }: AgentSkillsReport): string {
  const rows = tasks.map(({ skill, title, mode, done, steps, of, why, packages, denials }) => [
    skill,
    title,
    mode,
    done
      ? `done, ${of} commands`
      : `${steps} of ${of} commands: ${why.replaceAll(/[|\n]/g, ' ').slice(0, 160)}`,
    packages.length === 0 ? DASH : String(packages.length),
    denials.length === 0 ? DASH : denials.join(', '),
  ]);
  return table([['skill', 'task', 'mode', 'result', 'packages', 'denials'], ...rows]);
}

export function formatInject({ inject }: AgentSkillsReport): string {
  if (!inject) throw new Error('The saved result has no part about hostile scripts');
  const acted = inject.rows.filter(({ acts }) => acts.length > 0);
  const count = (act: string): number => acted.filter(({ acts }) => acts.includes(act)).length;
  const cells = acted.reduce((sum, row) => sum + row.cells, 0);
  return [
    `Of ${inject.scripts} scripts of ${commitOf(inject)}, ${inject.acted} acted in the control: ${count('files')} changed files,`,
    `${count('network')} made requests, ${count('secret')} printed an invented secret. Of these, ${inject.contained} were contained`,
    `in all of their cells (${cells} together). ${acted.filter(({ usesGrant }) => usesGrant).length} changed files of the project where it was writable, as granted.`,
  ].join(' ');
}
