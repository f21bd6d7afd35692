/**
 * Runs bundles of a Skillware checkout here and with Skillware's own loader, and prints where they differ:
 *
 *     node scripts/compare-skillware.ts <folder with skillware/ and skills/>
 *
 * @module
 */
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { argv } from 'node:process';
import { isDeepStrictEqual } from 'node:util';
import { createRuntime, packageRoot, type Outcome, type Runtime, type Skill } from '../src/index.ts';
import { findInterpreter } from '../src/cell/python/interpreter.ts';
import { NOT_RUN, SAMPLES, type Difference, type SkillSamples } from './skillware-samples.ts';

/** What Skillware's loader imports itself. */
const LOADER_PACKAGES = ['pyyaml', 'jsonschema', 'packaging'];

type Answer = { kind: 'result'; value: unknown } | { kind: 'refused' } | { kind: 'raised'; text: string };
type Reference = (folder: string, params: unknown, env: Record<string, string>) => Answer;

interface Row {
  skill: string;
  loads: string;
  runs: string;
  equal: string;
  remark: string;
}

async function main(checkout: string | undefined): Promise<number> {
  if (
    checkout === undefined ||
    !isFolder(join(checkout, 'skills')) ||
    !isFolder(join(checkout, 'skillware'))
  ) {
    console.error('Give a folder with skillware/ and skills/: a checkout, or an unpacked sdist or wheel.');
    return 2;
  }
  const temp = mkdtempSync(join(tmpdir(), 'compare-skillware-'));
  // Cells run as another user when we are root, and have to pass through.
  chmodSync(temp, 0o711);
  try {
    return await compareAll(resolve(checkout), temp);
  } finally {
    rmSync(temp, { recursive: true, force: true });
  }
}

async function compareAll(checkout: string, temp: string): Promise<number> {
  const names = skillsIn(join(checkout, 'skills'));
  const env: Record<string, string> = Object.assign(
    {},
    ...Object.values(SAMPLES).map((one) => one.env ?? {}),
  );
  await using runtime = createRuntime({ home: join(temp, 'home'), cwd: temp, env, audit: false });
  const skills = new Map<string, Skill | Error>();
  for (const name of names) skills.set(name, await loadOrError(runtime, join(checkout, 'skills', name)));
  const reference = openReference({ checkout, temp, skills: [...skills.values()] });
  const rows: Row[] = [];
  for (const [name, skill] of skills) rows.push(await compareSkill({ name, skill, runtime, reference }));
  console.log(toTable(rows));
  return rows.every((row) => row.loads === 'yes' && !row.remark.startsWith('DIFFERS')) ? 0 : 1;
}

function skillsIn(registry: string): string[] {
  return readdirSync(registry, { recursive: true, encoding: 'utf8' })
    .filter((path) => /^[^/]+\/[^/]+\/manifest\.yaml$/.test(path))
    .map((path) => path.replace('/manifest.yaml', ''))
    .toSorted();
}

async function loadOrError(runtime: Runtime, folder: string): Promise<Skill | Error> {
  return runtime.load(folder).catch((error: unknown) => error as Error);
}

interface Comparison {
  name: string;
  skill: Skill | Error;
  runtime: Runtime;
  reference: Reference;
}

async function compareSkill({ name, skill, runtime, reference }: Comparison): Promise<Row> {
  const row = { skill: name, runs: '-', equal: '-' };
  if (skill instanceof Error) return { ...row, loads: 'no', remark: skill.message };
  const samples = SAMPLES[name];
  if (!samples) return { ...row, loads: 'yes', remark: NOT_RUN[name] ?? 'no samples for it' };
  await runtime.install(skill.bundle.sourceDir);
  const differing: string[] = [];
  let ran = 0;
  for (const params of samples.params) {
    const outcome = await runtime.execute(skill, params, { reject: false, execution: 'subprocess' });
    const ours = answerOf(outcome);
    const theirs = reference(skill.bundle.sourceDir, params, samples.env ?? {});
    if (ours.kind === 'result') ran += 1;
    if (!isSame(ours, theirs, samples.allowed ?? [])) differing.push(describe(params, ours, theirs));
  }
  differing.forEach((text) => console.error(`${name}: ${text}`));
  const equal = `${samples.params.length - differing.length}/${samples.params.length}`;
  return { ...row, loads: 'yes', runs: ran > 0 ? 'yes' : 'no', equal, remark: remarkOf(samples, differing) };
}

function answerOf(outcome: Outcome): Answer {
  if (outcome.ok) return { kind: 'result', value: outcome.result };
  const { code, message } = outcome.error;
  if (code === 'invalid_params') return { kind: 'refused' };
  return { kind: 'raised', text: message.replace(/^The skill raised /, '') };
}

function isSame(ours: Answer, theirs: Answer, allowed: Difference[]): boolean {
  return isDeepStrictEqual(withoutAllowed(ours, allowed), withoutAllowed(theirs, allowed));
}

function withoutAllowed(answer: Answer, allowed: Difference[]): Answer {
  if (answer.kind !== 'result') return answer;
  const value: unknown = structuredClone(answer.value);
  for (const { path, how } of allowed) {
    const keys = path.split('.');
    const last = keys.pop() ?? '';
    const parent = keys.reduce((at: unknown, key) => (isMapping(at) ? at[key] : undefined), value);
    if (!isMapping(parent) || !(last in parent)) continue;
    const found = parent[last];
    parent[last] = how === 'unordered' && Array.isArray(found) ? found.map(toText).toSorted() : how;
  }
  return { kind: 'result', value };
}

function isMapping(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function toText(value: unknown): string {
  return JSON.stringify(value);
}

function describe(params: unknown, ours: Answer, theirs: Answer): string {
  return `${toText(params)}\n  here:      ${toText(ours)}\n  Skillware: ${toText(theirs)}`;
}

function remarkOf(samples: SkillSamples, differing: string[]): string {
  const parts = [
    ...(differing.length > 0 ? [`DIFFERS in ${differing.length}`] : []),
    ...(samples.remark === undefined ? [] : [samples.remark]),
    ...(samples.allowed ?? []).map(({ path, how, reason }) =>
      how === 'ignore' ? `\`${path}\` left out: ${reason}` : `\`${path}\` compared without order: ${reason}`,
    ),
  ];
  return parts.join('; ');
}

/** Skillware's own loader in plain CPython, with its packages and those of the bundles in a folder of their own. */
function openReference(options: { checkout: string; temp: string; skills: (Skill | Error)[] }): Reference {
  const { checkout, temp } = options;
  const python = findInterpreter()?.path;
  if (python === undefined) throw new Error('No system Python was found');
  const packages = join(temp, 'packages');
  const sampled = options.skills.flatMap((skill) =>
    skill instanceof Error || !SAMPLES[skill.bundle.manifest.name] ? [] : skill.bundle.manifest.requirements,
  );
  const wanted = [...new Set([...LOADER_PACKAGES, ...sampled])];
  const pip = ['-m', 'pip', 'install', '--quiet', '--only-binary', ':all:', '--target', packages, '--'];
  execFileSync(python, [...pip, ...wanted], { cwd: temp, stdio: ['ignore', 'ignore', 'inherit'] });
  const script = join(packageRoot(), 'scripts', 'skillware-reference.py');
  return (folder, params, env) => {
    const text = execFileSync(python, ['-B', '-s', script], {
      cwd: temp,
      env: { ...env, PYTHONPATH: `${packages}:${checkout}`, HOME: temp },
      input: JSON.stringify({ folder, params }),
      encoding: 'utf8',
    });
    return JSON.parse(text) as Answer;
  };
}

function toTable(rows: Row[]): string {
  const cells = rows.map((row) => [row.skill, row.loads, row.runs, row.equal, row.remark]);
  const head = ['skill', 'loads', 'runs', 'samples equal', 'remark'];
  return [head, head.map(() => '---'), ...cells].map((line) => `| ${line.join(' | ')} |`).join('\n');
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

process.exitCode = await main(argv[2]);
