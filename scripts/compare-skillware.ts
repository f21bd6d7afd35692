/**
 * Runs bundles of a Skillware checkout here, in both modes that run Python, and with Skillware's own loader. Prints where
 * they differ, and writes what it found to `bench/results/`, where doc-tables.ts reads it:
 *
 *     node scripts/compare-skillware.ts <folder with skillware/ and skills/> [--home <folder to keep packages in>]
 *
 * @module
 */
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { currentLoad, readMachine, type MachineFacts } from '../bench/runner/machine.ts';
import { bytesIn } from '../bench/runner/python-wasm/start.ts';
import { saveResult } from '../bench/saved-results.ts';
import { createRuntime, SkillError, type Runtime, type Skill } from '../src/index.ts';
import { wasmEnvironment } from '../src/cell/python-wasm/requirements.ts';
import { PYODIDE } from '../src/cell/python-wasm/pyodide.ts';
import { findInterpreter } from '../src/cell/python/interpreter.ts';
import { environmentFor } from '../src/cell/python/requirements.ts';
import {
  compareMode,
  MODES,
  type Comparison,
  type ComparedMode,
  type ModeResult,
} from './skillware-modes.ts';
import { openReference } from './skillware-reference.ts';
import { REQUIRED_ENV, SAMPLES } from './skillware-samples.ts';
import { formatEquality } from './skillware-table.ts';

export interface SkillComparison {
  skill: string;
  /** Why it does not load, if it does not. */
  refusal?: string;
  requirements: string[];
  bundleBytes: number;
  /** What in its code can reach for the network, by name. */
  networkModules: string[];
  modes: Partial<Record<ComparedMode, ModeResult>>;
}

export interface SkillwareReport {
  machine: MachineFacts;
  skillware: string;
  python: Record<ComparedMode, string>;
  skills: SkillComparison[];
}

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    options: { home: { type: 'string' } },
    allowPositionals: true,
  });
  const checkout = resolve(positionals[0] ?? '');
  if (positionals.length !== 1 || !['skills', 'skillware'].every((name) => isFolder(join(checkout, name)))) {
    console.error('Give a folder with skillware/ and skills/: a checkout, or an unpacked sdist or wheel.');
    return 2;
  }
  const temp = mkdtempSync(join(tmpdir(), 'compare-skillware-'));
  // Cells run as another user when we are root, and have to pass through.
  chmodSync(temp, 0o711);
  try {
    const report = await compareAll({ checkout, temp, home: resolve(values.home ?? join(temp, 'home')) });
    console.error(`Written to ${saveResult(report, 'skillware')}`);
    console.log(formatEquality(report));
    return report.skills.every(isEqual) ? 0 : 1;
  } finally {
    rmSync(temp, { recursive: true, force: true });
  }
}

interface Places {
  checkout: string;
  temp: string;
  home: string;
}

async function compareAll({ checkout, temp, home }: Places): Promise<SkillwareReport> {
  const machine = await readMachine(home, 'python-wasm');
  const env: Record<string, string> = Object.assign(
    { ...REQUIRED_ENV },
    ...Object.values(SAMPLES).map((one) => one.env ?? {}),
  );
  await using runtime = createRuntime({ home, cwd: temp, env, audit: false });
  const folders = skillsIn(join(checkout, 'skills')).map((name) => join(checkout, 'skills', name));
  const loaded: (Skill | SkillError)[] = [];
  for (const folder of folders) loaded.push(await installOrError(runtime, folder));
  const reference = openReference({ checkout, temp, skills: loaded.filter(isSkill) });
  const skills: SkillComparison[] = [];
  for (const [at, skill] of loaded.entries()) {
    const name = folders[at]?.slice(join(checkout, 'skills').length + 1) ?? '';
    const nothing = { skill: name, requirements: [], bundleBytes: 0, networkModules: [], modes: {} };
    skills.push(
      isSkill(skill)
        ? await compareSkill({ skill, runtime, reference })
        : { ...nothing, refusal: skill.message },
    );
  }
  const python = { subprocess: findInterpreter()?.version ?? 'none', wasm: PYODIDE.python };
  return {
    machine: { ...machine, loadAtEnd: currentLoad() },
    skillware: versionOf(checkout),
    python,
    skills,
  };
}

function versionOf(checkout: string): string {
  const text = readFileSync(join(checkout, 'pyproject.toml'), 'utf8');
  return /^version = "(.*)"$/m.exec(text)?.[1] ?? 'unknown';
}

function skillsIn(registry: string): string[] {
  return readdirSync(registry, { recursive: true, encoding: 'utf8' })
    .filter((path) => /^[^/]+\/[^/]+\/manifest\.yaml$/.test(path))
    .map((path) => path.replace('/manifest.yaml', ''))
    .toSorted();
}

async function installOrError(runtime: Runtime, folder: string): Promise<Skill | SkillError> {
  try {
    await runtime.install(folder);
    return await runtime.load(folder);
  } catch (error) {
    if (error instanceof SkillError) return error;
    throw error;
  }
}

function isSkill(skill: Skill | SkillError): skill is Skill {
  return !(skill instanceof SkillError);
}

async function compareSkill(comparison: Comparison): Promise<SkillComparison> {
  const { bundle } = comparison.skill;
  const modes: SkillComparison['modes'] = {};
  for (const mode of MODES) {
    const result = await compareMode(comparison, mode);
    result.differing.forEach((text) => console.error(`${bundle.manifest.name} in ${mode}: ${text}`));
    const folder = packagesOf(comparison, mode);
    modes[mode] = folder === undefined ? result : { ...result, packageBytes: bytesIn(folder) };
  }
  return {
    skill: bundle.manifest.name,
    requirements: bundle.manifest.requirements,
    bundleBytes: bytesIn(bundle.stagedDir),
    networkModules: bundle.warnings.flatMap(
      (text) => /^The code imports "(.*)" .* declares no network\.$/.exec(text)?.[1] ?? [],
    ),
    modes,
  };
}

function packagesOf({ runtime, skill }: Comparison, mode: ComparedMode): string | undefined {
  const { home } = runtime;
  if (mode === 'wasm') return wasmEnvironment({ home, bundle: skill.bundle }).folder;
  const interpreter = findInterpreter();
  return interpreter && environmentFor({ home, interpreter, bundle: skill.bundle });
}

function isEqual({ refusal, modes }: SkillComparison): boolean {
  return refusal === undefined && Object.values(modes).every((mode) => mode.differing.length === 0);
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

if (import.meta.main) process.exitCode = await main();
