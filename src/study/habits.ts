/**
 * Finds what modules do on import, and which state they keep between calls. A skill of ours reads Python in a cell; scripts
 * are searched for common patterns. Both are heuristics, and the report says so.
 *
 * @module
 */
import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { z } from 'zod';
import type { Bundle } from '../load/bundle.ts';
import type { Finding } from '../load/inspection.ts';
import { packageRoot } from '../package-root.ts';
import type { Runtime } from '../runtime.ts';

export interface Habits {
  imports: Finding[];
  state: Finding[];
}

const NONE: Habits = { imports: [], state: [] };
const READER = join(packageRoot(), 'guest', 'study', 'python_habits');
const MAX_SOURCE_BYTES = 2 * 1024 * 1024;
const MAX_FINDINGS = 20;
const findings = z.array(z.object({ value: z.string().max(500), at: z.string().max(500) })).max(MAX_FINDINGS);
const replySchema = z.object({ imports: findings, state: findings });

export async function habitsOf(bundle: Bundle, runtime: Runtime): Promise<Habits> {
  const python = sourcesOf(bundle, /\.py$/);
  const scripts = sourcesOf(bundle, /\.(?:ts|js|mjs)$/);
  const found = [await readPython(python, runtime), searchScripts(scripts)];
  return { imports: found.flatMap(({ imports }) => imports), state: found.flatMap(({ state }) => state) };
}

/** Returns nothing if the source cannot be parsed. */
async function readPython(files: Record<string, string>, runtime: Runtime): Promise<Habits> {
  if (Object.keys(files).length === 0) return NONE;
  const outcome = await runtime.execute(READER, { files }, { reject: false, isolated: true });
  const reply = outcome.ok ? replySchema.safeParse(outcome.result) : undefined;
  return reply?.success ? reply.data : NONE;
}

/** An unindented statement runs on import, and an unindented `let` outlives a call. */
function searchScripts(files: Record<string, string>): Habits {
  const habits: Habits = { imports: [], state: [] };
  for (const [path, source] of Object.entries(files)) {
    for (const [at, line] of source.split('\n').entries()) {
      const place = `${path}:${at + 1}`;
      const variable = /^(?:export )?(?:let|var) (\w+)/.exec(line)?.[1] ?? changedCollection(line, source);
      if (variable !== undefined) habits.state.push({ value: variable, at: place });
      const effect =
        /^(?:await |void )?(?:const \w+ = await )?(fetch|readFile|console\.\w+|process\.\w+)\(/.exec(
          line,
        )?.[1];
      if (effect !== undefined) habits.imports.push({ value: effect, at: place });
    }
  }
  return { imports: habits.imports.slice(0, MAX_FINDINGS), state: habits.state.slice(0, MAX_FINDINGS) };
}

/** Finds `const known = new Map()` if other code writes to it. */
function changedCollection(line: string, source: string): string | undefined {
  const name = /^(?:export )?const (\w+)[^=]*= (?:new (?:Map|Set|WeakMap)\b|\[\])/.exec(line)?.[1];
  if (name === undefined) return undefined;
  return new RegExp(`\\s${name}\\.(?:set|add|push|unshift)\\(`).test(source) ? name : undefined;
}

function sourcesOf(bundle: Bundle, pattern: RegExp): Record<string, string> {
  const sources: Record<string, string> = {};
  let bytes = 0;
  for (const path of Object.keys(bundle.files)) {
    if (!pattern.test(path) || isTest(path) || path.endsWith('.d.ts') || !runs(path, bundle.entry)) continue;
    const text = readFileSync(join(bundle.stagedDir, path), 'utf8');
    bytes += text.length;
    if (bytes > MAX_SOURCE_BYTES) break;
    sources[path] = text;
  }
  return sources;
}

/** The source of a compiled binary does not run itself. */
function runs(path: string, entry: string): boolean {
  return entry.endsWith('.py') ? path.endsWith('.py') : !entry.endsWith('.wasm') && !path.endsWith('.py');
}

function isTest(path: string): boolean {
  return /^(?:test_.*|.*_test|conftest)\.py$/.test(basename(path));
}
