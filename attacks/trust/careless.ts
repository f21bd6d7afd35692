/**
 * What careless loaders do, to show that an attack is one. Their code runs as a user who owns nothing.
 *
 * @module
 */
import { join } from 'node:path';
import { findNode } from '../../src/for-attacks.ts';
import { runAlone } from '../runner/alone.ts';
import type { TrustStage } from './stage.ts';

/** Imports the code and calls it, like a loader that trusts the manifest. */
export async function importsCode(
  stage: TrustStage,
  dir: string = stage.stranger,
): Promise<string | undefined> {
  const program = `const { execute } = await import(${JSON.stringify(join(dir, 'skill.js'))});
    console.log(JSON.stringify(execute({})));`;
  const args = ['--no-warnings', '--input-type=module', '--eval', program];
  const stdout = await runAlone(findNode(stage.home).path, args);
  // Its effects here are not the attack's.
  stage.forget();
  return stdout.includes('"succeeded":true') ? `imported by a host, it answers ${stdout.trim()}` : undefined;
}

/** Calls a Python skill with a folder of the host, and returns its result. */
export async function callsPython(dir: string, params: unknown): Promise<string> {
  const program = `import json, sys; sys.path.insert(0, ${JSON.stringify(dir)}); import skill; print(json.dumps(skill.execute(json.loads(sys.argv[1]))))`;
  const said = await runAlone('/usr/bin/python3', ['-I', '-B', '-c', program, JSON.stringify(params)]);
  return said.trim();
}

/** Walks all values recursively. */
export function overflows(value: unknown): string | undefined {
  const walk = (one: unknown): void => {
    if (typeof one === 'object' && one !== null) Object.values(one).forEach(walk);
  };
  try {
    walk(value);
    return undefined;
  } catch (error) {
    return error instanceof RangeError ? `walking it fails with "${error.message}"` : undefined;
  }
}
