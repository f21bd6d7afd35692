/**
 * `skillcell build`: compiles the sources of a skill to skill.wasm or skill.js with the author's own compilers. These are
 * trusted and run without a sandbox; running a skill never builds it.
 *
 * @module
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { SkillError } from '../errors.ts';
import { sha256 } from '../load/digest.ts';
import { defaultHome } from '../load/home.ts';
import { findSkill } from '../load/locate.ts';
import type { Manifest } from '../manifest/manifest.ts';
import { readDescription } from '../load/bundle-texts.ts';
import { readBundle } from '../load/read-bundle.ts';
import { publishSync } from '../load/publish.ts';
import { packageRoot } from '../package-root.ts';
import { encodeComponent } from './component-encoder.ts';
import type { Workshop } from './tools.ts';
import { RECIPES, recipesFor, type Recipe } from './recipes.ts';

const RESULTS: Readonly<Record<Recipe['makes'], string>> = {
  core: 'skill.wasm',
  done: 'skill.wasm',
  script: 'skill.js',
};

/** Options of `buildSkill`. */
export interface BuildOptions {
  /** The project folder, to find its skills and npm packages. */
  cwd?: string;
  home?: string;
  /** Receives a sentence when something takes more than a moment, such as fetching npm packages. */
  onProgress?: ((text: string) => void) | undefined;
}

/** The result of `buildSkill`. */
export interface Built {
  language: string;
  /** The file that was written. */
  file: string;
  bytes: number;
  /** SHA-256 of the file. */
  digest: string;
}

/** Builds the component of a skill with the compilers on this machine. */
export function buildSkill(ref: string, options: BuildOptions = {}): Built {
  const cwd = resolve(options.cwd ?? process.cwd());
  const home = resolve(options.home ?? defaultHome());
  const { dir } = findSkill(ref, { bundledDir: join(packageRoot(), 'skills'), home, cwd });
  const recipe = onlyRecipe(dir, ref);
  const { execution, entry } = manifestOf(dir);
  if (entry === recipe.source) throw notTheEntry(entry, RESULTS[recipe.makes]);
  const hasNode = execution.length === 0 || execution.some((mode) => mode !== 'wasm');
  const { onProgress } = options;
  const binary = build(recipe, { bundle: dir, packagesFrom: [dir, cwd], hasNode, onProgress });
  const file = join(dir, RESULTS[recipe.makes]);
  // Atomically, so that a concurrent load sees either the old binary or the new one.
  publishSync(file, (draft) => writeFileSync(draft, binary));
  return { language: recipe.language, file, bytes: binary.length, digest: `sha256:${sha256(binary)}` };
}

/** Whether there is a source to compile. */
export function isCompiled(ref: string, options: BuildOptions = {}): boolean {
  const { cwd = process.cwd(), home = defaultHome() } = options;
  const { dir } = findSkill(ref, { bundledDir: join(packageRoot(), 'skills'), home, cwd });
  return recipesFor(dir).length > 0;
}

/** A manifest that cannot be read is reported when the skill is loaded. */
function manifestOf(dir: string): Pick<Manifest, 'execution' | 'entry'> {
  try {
    return readDescription(readBundle(dir).contents, dir).manifest;
  } catch {
    return { execution: [] };
  }
}

function notTheEntry(entry: string, result: string): SkillError {
  return new SkillError('manifest_invalid', `The manifest runs "${entry}", not the built file "${result}"`, {
    fix: `Remove "entry" from the manifest, or set it to "${result}".`,
    detail: { field: 'entry', entry },
  });
}

function build(recipe: Recipe, workshop: Omit<Workshop, 'scratch' | 'output'>): Buffer {
  const scratch = mkdtempSync(join(tmpdir(), 'skillcell-build-'));
  try {
    const output = join(scratch, RESULTS[recipe.makes]);
    recipe.build({ ...workshop, scratch, output });
    const built = readFileSync(output);
    return recipe.makes === 'core' ? wrapModule(built) : built;
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

function wrapModule(core: Buffer): Buffer {
  const module = new WebAssembly.Module(core);
  const component = encodeComponent(core, {
    exports: WebAssembly.Module.exports(module).map((item) => item.name),
    imports: WebAssembly.Module.imports(module),
  });
  if (typeof component !== 'string') return Buffer.from(component);
  throw new SkillError(
    'manifest_invalid',
    `The source was compiled, but the result is not a skill: ${component}`,
    {
      fix: 'Start from a template (`skillcell init`) and keep its file "skillcell.*".',
    },
  );
}

function onlyRecipe(dir: string, ref: string): Recipe {
  const [recipe, other] = recipesFor(dir);
  if (recipe !== undefined && other === undefined) return recipe;
  const found = recipe && other ? `both "${recipe.source}" and "${other.source}"` : 'no source to build';
  throw new SkillError('usage', `The skill ${JSON.stringify(ref)} has ${found}`, {
    fix: `Keep exactly one of: ${RECIPES.map(({ source, language }) => `${source} (${language})`).join(', ')}.`,
  });
}
