/**
 * Looks at one skill: manifest, code, lock, test cases, and what it requests more than before.
 *
 * @module
 */
import { cpSync, existsSync, mkdirSync, mkdtempSync } from 'node:fs';
import { basename, join } from 'node:path';
import {
  capabilitySet,
  CASES_FILE,
  createRuntime,
  describeCapabilities,
  type Runtime,
  runCases,
  type Skill,
  type SkillError,
  toSkillError,
} from '../../src/inside.ts';
import { findingsOfError, isStaleLock, manifestOf, warningFindings } from './findings.ts';
import { extract, isChanged } from './git.ts';
import type { Finding, SkillReport } from './report.ts';

export interface ExamineOptions {
  repository: string;
  /** Absent: nothing to compare with. */
  base?: string | undefined;
  /** Folders of skills that the base has. */
  baseFolders: readonly string[];
  requireLock: boolean;
  runTests: boolean;
  /** An empty folder for copies; the caller removes it. */
  scratch: string;
}

interface Loaded {
  skill?: Skill | undefined;
  findings: Finding[];
  lock: SkillReport['lock'];
}

export class Examiner implements AsyncDisposable {
  readonly #options: ExamineOptions;
  /** Test cases fill it; skills see no other variables. */
  readonly #env: Record<string, string> = {};
  readonly #runtime: Runtime;

  constructor(options: ExamineOptions) {
    this.#options = options;
    // No policy file of the repository is read: a pull request must not widen what its own skills get.
    this.#runtime = createRuntime({
      caller: 'action',
      cwd: options.repository,
      pool: { size: 0 },
      env: this.#env,
      allowEnv: 'all',
      secrets: (name) => this.#env[name],
    });
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#runtime[Symbol.asyncDispose]();
  }

  async examine(dir: string): Promise<SkillReport> {
    const loaded = await this.#loadHead(dir);
    const wasThere = this.#options.baseFolders.includes(dir);
    const before = wasThere ? await this.#loadBase(dir) : undefined;
    const tests = loaded.skill && (await this.#runTests(dir, loaded.skill));
    const difference = loaded.skill && this.#compare(dir, { head: loaded.skill, before, wasThere });
    return {
      dir,
      change: this.#changeOf(dir),
      lock: loaded.lock,
      cases: tests?.cases,
      capabilities: difference?.capabilities,
      sentences: difference?.sentences ?? [],
      findings: [...loaded.findings, ...(tests?.findings ?? []), ...(difference?.findings ?? [])],
    };
  }

  #changeOf(dir: string): SkillReport['change'] {
    const { repository, base, baseFolders } = this.#options;
    if (base === undefined) return 'not compared';
    if (!baseFolders.includes(dir)) return 'new';
    return isChanged(repository, base, dir) ? 'changed' : 'unchanged';
  }

  async #loadHead(dir: string): Promise<Loaded> {
    const folder = join(this.#options.repository, dir);
    const first = await this.#load(folder);
    if ('skill' in first) {
      const { bundle } = first.skill;
      const missing =
        bundle.lock === 'unlocked' && this.#options.requireLock ? [lockMissing(folder, dir)] : [];
      const findings = [...missing, ...warningFindings(bundle, dir)];
      return { skill: first.skill, findings, lock: bundle.lock === 'locked' ? 'current' : 'missing' };
    }
    const findings = findingsOfError(first.error, { dir, manifest: manifestOf(folder) });
    if (!isStaleLock(first.error)) return { findings, lock: 'unknown' };
    // What the skill requests now has to be shown all the more if its lock does not know it.
    const again = await this.#load(this.#withoutLock(folder));
    if ('skill' in again)
      return {
        skill: again.skill,
        findings: [...findings, ...warningFindings(again.skill.bundle, dir)],
        lock: 'stale',
      };
    return {
      findings: [...findings, ...findingsOfError(again.error, { dir, manifest: manifestOf(folder) })],
      lock: 'stale',
    };
  }

  /** Undefined if the base version does not load either: then nobody can say what it requested. */
  async #loadBase(dir: string): Promise<Skill | undefined> {
    const { repository, base, scratch } = this.#options;
    if (base === undefined) return undefined;
    const target = mkdtempSync(join(scratch, 'base-'));
    extract(repository, { commit: base, folder: dir, target });
    const loaded = await this.#load(this.#withoutLock(join(target, dir)));
    return 'skill' in loaded ? loaded.skill : undefined;
  }

  async #load(folder: string): Promise<{ skill: Skill } | { error: SkillError }> {
    try {
      return { skill: await this.#runtime.load(folder) };
    } catch (thrown) {
      return { error: toSkillError(thrown) };
    }
  }

  #withoutLock(folder: string): string {
    const copy = join(mkdtempSync(join(this.#options.scratch, 'copy-')), basename(folder));
    mkdirSync(copy);
    const kept = (path: string): boolean => !['skill.lock', 'skill.sig'].includes(basename(path));
    cpSync(folder, copy, { recursive: true, filter: kept, verbatimSymlinks: true });
    return copy;
  }

  async #runTests(dir: string, skill: Skill): Promise<Pick<SkillReport, 'cases' | 'findings'> | undefined> {
    const file = `${dir}/${CASES_FILE}`;
    if (!this.#options.runTests || !existsSync(join(this.#options.repository, file))) return undefined;
    const findings: Finding[] = [];
    const failed = (message: string): number =>
      findings.push({ rule: 'case-failed', level: 'error', message, file });
    let total = 0;
    let passed = 0;
    try {
      for await (const run of runCases(skill, {
        runtime: this.#runtime,
        env: this.#env,
        options: { caller: 'action' },
      })) {
        total += 1;
        if (run.misfit === undefined) passed += 1;
        else failed(`The case ${JSON.stringify(run.name)} fails: ${run.misfit}`);
      }
    } catch (thrown) {
      failed(toSkillError(thrown).message);
    }
    return { cases: { passed, total }, findings };
  }

  #compare(
    dir: string,
    { head, before, wasThere }: { head: Skill; before: Skill | undefined; wasThere: boolean },
  ): Pick<SkillReport, 'capabilities' | 'sentences' | 'findings'> {
    if (this.#options.base === undefined) return { sentences: [], findings: [] };
    if (wasThere && before === undefined) return { sentences: [], findings: [] };
    const [now, then] = [head, before].map((skill) => (skill ? capabilitySet(skill.bundle.manifest) : []));
    const added = (now ?? []).filter((line) => !then?.includes(line));
    const removed = (then ?? []).filter((line) => !now?.includes(line));
    const known = new Set(before && describeCapabilities(before.bundle.manifest).map(({ text }) => text));
    const sentences = describeCapabilities(head.bundle.manifest).filter(({ text }) => !known.has(text));
    const file = `${dir}/${manifestOf(join(this.#options.repository, dir))}`;
    return {
      capabilities: { added, removed },
      sentences: sentences.map(({ risk, text }) => `${risk}: ${text}`),
      findings: added.map((line) => ({
        rule: 'capability-added',
        level: 'note',
        message: `New capability: ${line}`,
        file,
      })),
    };
  }
}

function lockMissing(folder: string, dir: string): Finding {
  return {
    rule: 'lock-missing',
    level: 'error',
    message: `The skill has no skill.lock. Run: skillcell lock ${dir}`,
    file: `${dir}/${manifestOf(folder)}`,
  };
}
