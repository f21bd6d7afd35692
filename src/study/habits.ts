/**
 * What modules do when they are loaded, and what they keep between calls. Python is read by a skill of our own in a cell;
 * scripts are searched for the usual shapes. Both are guesses by reading, and the report says so.
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
const MOST = 20;
const findings = z.array(z.object({ value: z.string().max(500), at: z.string().max(500) })).max(MOST);
const replySchema = z.object({ imports: findings, state: findings });

export async function habitsOf(bundle: Bundle, runtime: Runtime): Promise<Habits> {
  const python = sourcesOf(bundle, /\.py$/);
  const scripts = sourcesOf(bundle, /\.(?:ts|js|mjs)$/);
  const [read, searched] = [await readPython(python, runtime), searchScripts(scripts)];
  return { imports: [...read.imports, ...searched.imports], state: [...read.state, ...searched.state] };
}

/** A source that cannot be read so is one about which nothing is said. */
async function readPython(files: Record<string, string>, runtime: Runtime): Promise<Habits> {
  if (Object.keys(files).length === 0) return NONE;
  const outcome = await runtime.execute(READER, { files }, { reject: false, isolated: true });
  const reply = outcome.ok ? replySchema.safeParse(outcome.result) : undefined;
  return reply?.success ? reply.data : NONE;
}

/** A statement at the left margin runs when the module is loaded; a `let` there outlives a call. */
function searchScripts(files: Record<string, string>): Habits {
  const habits: Habits = { imports: [], state: [] };
  for (const [path, source] of Object.entries(files)) {
    for (const [at, line] of source.split('\n').entries()) {
      const place = `${path}:${at + 1}`;
      const kept = /^(?:export )?(?:let|var) (\w+)/.exec(line)?.[1] ?? changedCollection(line, source);
      if (kept !== undefined) habits.state.push({ value: kept, at: place });
      const called =
        /^(?:await |void )?(?:const \w+ = await )?(fetch|readFile|console\.\w+|process\.\w+)\(/.exec(
          line,
        )?.[1];
      if (called !== undefined) habits.imports.push({ value: called, at: place });
    }
  }
  return { imports: habits.imports.slice(0, MOST), state: habits.state.slice(0, MOST) };
}

/** `const known = new Map()` that something else writes into. */
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

/** What a binary was built from is no part of what runs. */
function runs(path: string, entry: string): boolean {
  return entry.endsWith('.py') ? path.endsWith('.py') : !entry.endsWith('.wasm') && !path.endsWith('.py');
}

function isTest(path: string): boolean {
  return /^(?:test_.*|.*_test|conftest)\.py$/.test(basename(path));
}
