/**
 * What loaders without care do, to show that an attack is one. Whatever they run is run by somebody who owns nothing.
 *
 * @module
 */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { findNode } from '../../src/cell/node/node-binary.ts';
import { asUser, CONTROL } from '../runner/identities.ts';
import type { TrustStage } from './stage.ts';

const run = promisify(execFile);

/** Imports the code and calls it, as a loader that believes what it is told. */
export async function importsCode(
  stage: TrustStage,
  dir: string = stage.stranger,
): Promise<string | undefined> {
  const program = `const { execute } = await import(${JSON.stringify(join(dir, 'skill.js'))});
    console.log(JSON.stringify(execute({})));`;
  const { stdout } = await run(
    findNode(stage.home).path,
    ['--no-warnings', '--input-type=module', '--eval', program],
    { ...asUser(CONTROL), cwd: '/', env: {}, timeout: 10_000 },
  );
  // What it did here is no harm of the attempt.
  stage.forget();
  return stdout.includes('"succeeded":true') ? `imported by a host, it answers ${stdout.trim()}` : undefined;
}

/** Calls a skill in Python with a folder of the host, and returns what it answers. */
export async function callsPython(dir: string, params: unknown): Promise<string> {
  const program = `import json, sys; sys.path.insert(0, ${JSON.stringify(dir)}); import skill; print(json.dumps(skill.execute(json.loads(sys.argv[1]))))`;
  const { stdout } = await run('/usr/bin/python3', ['-I', '-B', '-c', program, JSON.stringify(params)], {
    ...asUser(CONTROL),
    cwd: '/',
    env: {},
    timeout: 10_000,
  });
  return stdout.trim();
}

/** Walks all values by recursion. */
export function overflows(value: unknown): string | undefined {
  const walk = (one: unknown): void => {
    if (typeof one === 'object' && one !== null) Object.values(one).forEach(walk);
  };
  try {
    walk(value);
    return undefined;
  } catch (error) {
    return error instanceof RangeError ? `who walks it gets "${error.message}"` : undefined;
  }
}
