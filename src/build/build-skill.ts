/**
 * `skillcell build`: from the sources of a skill to its skill.wasm or skill.js, with the author's own compilers. They are trusted
 * and run as they are; nothing of this ever happens when a skill is run.
 *
 * @module
 */
import { mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { SkillError } from '../errors.ts';
import { sha256 } from '../load/digest.ts';
import { defaultHome } from '../load/home.ts';
import { findSkill } from '../load/locate.ts';
import { packageRoot } from '../package-root.ts';
import { encodeComponent } from './component-encoder.ts';
import { RECIPES, recipesFor, type Recipe } from './recipes.ts';

const RESULTS: Readonly<Record<Recipe['makes'], string>> = {
  core: 'skill.wasm',
  done: 'skill.wasm',
  script: 'skill.js',
};

export interface BuildOptions {
  /** Where the project's own skills are looked for, and npm packages. */
  cwd?: string;
  home?: string;
}

export interface Built {
  language: string;
  /** The file that was written. */
  file: string;
  bytes: number;
  /** sha256 of it. */
  digest: string;
}

export function buildSkill(ref: string, options: BuildOptions = {}): Built {
  const cwd = resolve(options.cwd ?? process.cwd());
  const home = resolve(options.home ?? defaultHome());
  const { dir } = findSkill(ref, { bundledDir: join(packageRoot(), 'skills'), home, cwd });
  const recipe = onlyRecipe(dir, ref);
  const binary = build(recipe, dir, cwd);
  const file = join(dir, RESULTS[recipe.makes]);
  // In one step: a skill that is loaded meanwhile has the old binary or the new one.
  const draft = `${file}.${process.pid}.draft`;
  writeFileSync(draft, binary);
  renameSync(draft, file);
  return { language: recipe.language, file, bytes: binary.length, digest: `sha256:${sha256(binary)}` };
}

/** Whether there is a source to compile. */
export function isCompiled(ref: string, options: BuildOptions = {}): boolean {
  const { cwd = process.cwd(), home = defaultHome() } = options;
  const { dir } = findSkill(ref, { bundledDir: join(packageRoot(), 'skills'), home, cwd });
  return recipesFor(dir).length > 0;
}

function build(recipe: Recipe, bundle: string, cwd: string): Buffer {
  const scratch = mkdtempSync(join(tmpdir(), 'skillcell-build-'));
  try {
    const output = join(scratch, RESULTS[recipe.makes]);
    recipe.build({ bundle, scratch, output, packagesFrom: [bundle, cwd] });
    const made = readFileSync(output);
    return recipe.makes === 'core' ? wrapped(made) : made;
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

function wrapped(core: Buffer): Buffer {
  const module = new WebAssembly.Module(core);
  const component = encodeComponent(core, {
    exports: WebAssembly.Module.exports(module).map((item) => item.name),
    imports: WebAssembly.Module.imports(module),
  });
  if (typeof component !== 'string') return Buffer.from(component);
  throw new SkillError('manifest_invalid', `The source was compiled, but it is no skill: ${component}`, {
    fix: 'Start from a template (`skillcell init`) and keep its file "skillcell.*".',
  });
}

function onlyRecipe(dir: string, ref: string): Recipe {
  const [recipe, other] = recipesFor(dir);
  if (recipe !== undefined && other === undefined) return recipe;
  const found = recipe && other ? `both "${recipe.source}" and "${other.source}"` : 'no source to build';
  throw new SkillError('usage', `The skill ${JSON.stringify(ref)} has ${found}`, {
    fix: `Keep one of: ${RECIPES.map(({ source, language }) => `${source} (${language})`).join(', ')}.`,
  });
}
