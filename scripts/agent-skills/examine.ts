/**
 * Loads Agent Skills folders and says which rules of the specification they break. Runs nothing.
 *
 * @module
 */
import { describeScripts, neededModules, SkillError, type Runtime } from '../../src/inside.ts';
import { findBundles } from '../../src/study/find-bundles.ts';

const MAX_BUNDLES = 2000;
const RULE = /\[rule ([a-z-]+)\]/g;

export interface AgentSkillRow {
  folder: string;
  loads: boolean;
  /** Rules of the specification that it breaks. */
  rules: string[];
  /** Why it does not load. */
  reason: string;
  kind: string;
  scripts: number;
  languages: string[];
  /** Imported modules outside of the standard library and the folder. */
  needs: string[];
}

async function examine(runtime: Runtime, folder: string, dir: string): Promise<AgentSkillRow> {
  try {
    const { bundle } = await runtime.load(dir);
    const scripts = describeScripts(bundle);
    const rules = rulesIn(bundle.warnings);
    const languages = [...new Set(scripts.map(({ language }) => language))].sort();
    const facts = { kind: bundle.kind, scripts: scripts.length, languages, needs: neededModules(bundle) };
    return { folder, loads: true, rules, reason: '', ...facts };
  } catch (error) {
    if (!(error instanceof SkillError)) throw error;
    const facts = { kind: '-', scripts: 0, languages: [], needs: [] };
    return { folder, loads: false, rules: rulesIn([error.message]), reason: error.message, ...facts };
  }
}

function rulesIn(texts: readonly string[]): string[] {
  const rules = texts.flatMap((text) => [...text.matchAll(RULE)].map(([, rule = '']) => rule));
  return [...new Set(rules)].sort();
}

/** One after the other: every load may start a cell, and the machine has few cores. */
export async function examineAll(runtime: Runtime, checkout: string): Promise<AgentSkillRow[]> {
  const rows: AgentSkillRow[] = [];
  for (const { dir, path } of findBundles(checkout, MAX_BUNDLES))
    rows.push(await examine(runtime, path, dir));
  return rows;
}
