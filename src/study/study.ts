/**
 * `skillcell study`: runs every bundle below a folder in every mode of this machine. Bundles are untrusted: they run only in
 * cells, offline, and without the caller's environment. Only bundled skills that list `in_process` are also run there.
 *
 * @module
 */
import { mkdirSync, readdirSync, statSync } from 'node:fs';
import { cpus, loadavg, availableParallelism, release, totalmem } from 'node:os';
import { join, resolve } from 'node:path';
import { findInterpreter } from '../cell/engines/python/interpreter.ts';
import { requirementsOfBundle } from '../cell/engines/python/pinned-environment.ts';
import { environmentFor } from '../cell/engines/python/requirements.ts';
import { nativeCodeIn } from '../cell/engines/python-wasm/native-code.ts';
import { isSettled, wasmEnvironment } from '../cell/engines/python-wasm/requirements.ts';
import { SkillError } from '../errors.ts';
import type { Bundle } from '../load/bundle.ts';
import { defaultHome } from '../load/home.ts';
import type { Skill } from '../load/skill.ts';
import type { Mode } from '../vocabulary/modes.ts';
import { packageVersion } from '../package-root.ts';
import { DEFAULT_POLICY, type OperatorPolicy } from '../policy/operator.ts';
import { createRuntime, type Runtime } from '../runtime.ts';
import { describeAnswer, isSame } from './answers.ts';
import { CASES_FILE, readCases, type SkillCase } from './cases.ts';
import { classify } from './classify.ts';
import { findBundles, type FoundBundle } from './find-bundles.ts';
import { habitsOf } from './habits.ts';
import { PREFERRED_MODES } from '../vocabulary/modes.ts';
import type { ModeStudy, SkillStudy, StudyReport } from './report.ts';
import { nameOf, tryMode, type TriedMode } from './try-mode.ts';
import { Workspaces } from './workspaces.ts';

/** Options of `studyFolder`. */
export interface StudyOptions {
  /** Folder with cases for bundles that have none: `<category>/<name>.json`, or `<name>.json`. */
  cases?: string;
  /** Number of timed calls per skill and mode. */
  calls?: number;
  /** Maximum number of bundles. */
  most?: number;
  /** Time limit per bundle in seconds, without its installation. */
  secondsPerSkill?: number;
  /** Folder for packages and prepared engines; never the home that skills normally run from. */
  home?: string;
  onSkill?: (path: string) => void;
}

const DEFAULTS = { calls: 5, most: 100, secondsPerSkill: 120 };
/** Offline, so that results are reproducible; inspects TLS, so that https rules can be enforced in every mode. */
const STUDY_POLICY: OperatorPolicy = { ...DEFAULT_POLICY, network: { allow: [], inspectTls: true } };

interface Study {
  /** Runs skills in cells. */
  cells: Runtime;
  /** Runs bundled skills in this process, without a policy, because none can be enforced there. */
  host: Runtime;
  env: Record<string, string>;
  workspaces: Workspaces;
  options: StudyOptions & typeof DEFAULTS;
}

/** Runs the skills of a folder in every mode and compares the answers. */
export async function studyFolder(folder: string, overrides: StudyOptions = {}): Promise<StudyReport> {
  const options = { ...DEFAULTS, ...overrides };
  const bundles = findBundles(folder, options.most);
  const home = resolve(options.home ?? join(defaultHome(), 'study'));
  mkdirSync(home, { recursive: true });
  const env: Record<string, string> = {};
  const invented = { env, allowEnv: 'all', secrets: (name: string) => env[name] } as const;
  const shared = {
    ...invented,
    home,
    audit: false,
    pool: { size: 1, maxStandby: 4 },
    caller: 'study',
  } as const;
  using workspaces = new Workspaces();
  await using cells = createRuntime({ ...shared, policy: STUDY_POLICY });
  await using host = createRuntime(shared);
  const skills: SkillStudy[] = [];
  for (const bundle of bundles) {
    options.onSkill?.(bundle.path);
    skills.push(await studyBundle(bundle, { cells, host, env, workspaces, options }));
  }
  return { ...describeRun(folder), skills, failures: skills.flatMap(failuresOf) };
}

function describeRun(folder: string): Omit<StudyReport, 'skills' | 'failures'> {
  return {
    folder,
    date: new Date().toISOString(),
    skillcell: packageVersion(),
    machine: {
      cores: availableParallelism(),
      cpu: cpus()[0]?.model ?? 'unknown',
      memoryBytes: totalmem(),
      kernel: release(),
      node: process.versions.node,
      load: loadavg()[0] ?? 0,
    },
  };
}

async function studyBundle({ dir, path }: FoundBundle, study: Study): Promise<SkillStudy> {
  const nothing = {
    path,
    name: path,
    requirements: [],
    bundleBytes: 0,
    dependencies: [],
    modes: [],
    differences: [],
  };
  try {
    const skill = await study.cells.load(dir);
    const note = await fetchRequirements(skill, study.cells);
    const { manifest } = skill.bundle;
    const found = await studySkill(skill, study);
    return {
      ...found,
      path,
      ...(note === undefined ? {} : { problem: { text: note, isFault: false } }),
      name: manifest.name,
    };
  } catch (error) {
    if (!(error instanceof SkillError)) throw error;
    return { ...nothing, problem: { text: error.message, isFault: !isUnbuilt(error) } };
  }
}

/** A binary that has not been built yet is not a fault of the skill. */
function isUnbuilt({ detail }: SkillError): boolean {
  return detail['field'] === 'entry' && String(detail['entry']).endsWith('.wasm');
}

/** Returns the reason if installing fails; the affected modes then report that packages are missing. */
async function fetchRequirements({ bundle }: Skill, runtime: Runtime): Promise<string | undefined> {
  if (!bundle.entry.endsWith('.py') || isInstalled(bundle, runtime)) return undefined;
  try {
    await runtime.install(bundle.sourceDir, { replace: true });
    return undefined;
  } catch (error) {
    if (error instanceof SkillError) return error.message;
    throw error;
  }
}

/** An earlier study may have installed them; asking the package index again is slow. */
function isInstalled(bundle: Bundle, runtime: Runtime): boolean {
  const { execution } = bundle.manifest;
  const mayRunIn = (mode: Mode): boolean => execution.length === 0 || execution.includes(mode);
  const hasNative =
    requirementsOfBundle(bundle).length === 0 || packageFolders(bundle, runtime).subprocess !== undefined;
  const hasWasm = isSettled({ home: runtime.home, bundle });
  return (!mayRunIn('subprocess') || hasNative) && (!mayRunIn('wasm') || hasWasm);
}

async function studySkill(skill: Skill, study: Study): Promise<Omit<SkillStudy, 'path'>> {
  const { bundle } = skill;
  const cases = casesFor(bundle, study.options.cases);
  const deadline = performance.now() + study.options.secondsPerSkill * 1000;
  const tried: TriedMode[] = [];
  for (const mode of modesFor(bundle)) {
    const { execution } = bundle.manifest;
    const isListed = execution.length === 0 || execution.includes(mode);
    const runtime = mode === 'in_process' ? study.host : study.cells;
    const { calls } = study.options;
    const one = await tryMode({ ...study, skill, mode, isListed, cases, calls, runtime, deadline });
    tried.push({ ...one, study: { ...one.study, ...packagesFor(bundle, mode, study.cells) } });
  }
  const modes = tried.map((one) => one.study);
  const packages = packageFolders(bundle, study.cells);
  return {
    name: bundle.manifest.name,
    version: bundle.manifest.version,
    digest: bundle.digest,
    origin: bundle.origin,
    language: languageOf(bundle),
    requirements: requirementsOfBundle(bundle),
    bundleBytes: bytesIn(bundle.stagedDir),
    dependencies: classify({
      bundle,
      modes,
      habits: await habitsOf(bundle, study.cells),
      nativeFiles: nativeFilesIn(packages.wasm ?? packages.subprocess),
      dataBytes: dataBytesOf(bundle),
    }),
    modes,
    differences: differencesOf(tried, cases),
  };
}

/** Untrusted code runs only in cells. `container` is run only if listed, because it may need to build an image. */
function modesFor({ manifest, origin }: Bundle): Mode[] {
  return PREFERRED_MODES.filter((mode) => {
    if (mode === 'in_process') return origin === 'bundled' && manifest.execution.includes(mode);
    return mode !== 'container' || manifest.execution.includes(mode);
  });
}

function casesFor(bundle: Bundle, folder: string | undefined): SkillCase[] {
  const own = readCases(join(bundle.stagedDir, CASES_FILE));
  if (own || folder === undefined) return own ?? [];
  return readCases(join(folder, `${bundle.manifest.name}.json`)) ?? [];
}

/** Compares only the modes that the skill lists; results elsewhere are not promised to be the same. */
function differencesOf(tried: readonly TriedMode[], cases: readonly SkillCase[]): string[] {
  const listed = tried.filter(({ study, answers }) => study.isListed && answers.length > 0);
  const [first, ...others] = listed;
  if (!first) return [];
  return cases.flatMap((one, at) =>
    others.flatMap(({ study, answers }) => {
      const [a, b] = [first.answers[at], answers[at]];
      if (!a || !b || isSame(a, b, one)) return [];
      return [
        `${nameOf(one, at)}: ${first.study.mode} ${describeAnswer(a)}, ${study.mode} ${describeAnswer(b)}`,
      ];
    }),
  );
}

function failuresOf({ path, modes, differences, problem }: SkillStudy): string[] {
  const failing = modes.filter(
    ({ isListed, status }) => isListed && ['fails', 'out of time'].includes(status),
  );
  return [
    ...(problem?.isFault ? [`${path}: ${problem.text}`] : []),
    ...failing.flatMap(({ mode, status, misfits }) =>
      status === 'fails'
        ? misfits.map((text) => `${path} in ${mode}: ${text}`)
        : [`${path} in ${mode}: not every case was run within the time limit`],
    ),
    ...differences.map((text) => `${path}: modes differ: ${text}`),
  ];
}

function packagesFor(bundle: Bundle, mode: Mode, runtime: Runtime): Pick<ModeStudy, 'packageBytes'> {
  const folder = packageFolders(bundle, runtime)[mode];
  return folder === undefined ? {} : { packageBytes: bytesIn(folder) };
}

function packageFolders(bundle: Bundle, { home }: Runtime): Partial<Record<Mode, string>> {
  if (!bundle.entry.endsWith('.py')) return {};
  const { folder: wasm } = wasmEnvironment({ home, bundle });
  const interpreter = findInterpreter();
  let subprocess: string | undefined;
  try {
    subprocess = interpreter && environmentFor({ home, interpreter, bundle });
  } catch {
    // Not installed; the mode reports it.
  }
  return { ...(wasm === undefined ? {} : { wasm }), ...(subprocess === undefined ? {} : { subprocess }) };
}

/** In a Wasm folder, packages come without native code that only makes them faster. */
function nativeFilesIn(folder: string | undefined): string[] {
  return folder === undefined ? [] : nativeCodeIn(folder);
}

const LANGUAGES: readonly [RegExp, string][] = [
  [/\.py$/, 'Python'],
  [/\.ts$/, 'TypeScript'],
  [/\.m?js$/, 'JavaScript'],
  [/\.wasm$/, 'WebAssembly'],
];

function languageOf({ entry }: Bundle): string {
  return LANGUAGES.find(([pattern]) => pattern.test(entry))?.[1] ?? 'program';
}

/** Size of all files that are neither source nor documentation. */
function dataBytesOf({ files, stagedDir }: Bundle): number {
  const data = Object.keys(files).filter((path) => !/\.(?:py|ts|js|mjs|md|yaml|wasm)$/.test(path));
  return data.reduce((sum, path) => sum + statSync(join(stagedDir, path)).size, 0);
}

function bytesIn(folder: string): number {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  return files.reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0);
}
