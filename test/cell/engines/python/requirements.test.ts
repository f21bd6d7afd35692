import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import { findInterpreter } from '../../../../src/cell/engines/python/interpreter.ts';
import {
  environmentFor,
  installRequirements,
  type EnvironmentOptions,
} from '../../../../src/cell/engines/python/requirements.ts';
import type { Bundle } from '../../../../src/load/bundle.ts';
import { NOTHING_INSPECTED } from '../../../../src/load/inspection.ts';
import { errorOf, manifestWith, tempDir } from '../../../load/helpers.ts';
import { addSourceDistribution, addWheel, useIndex } from './local-index.ts';

const interpreter = findInterpreter();
if (!interpreter) throw new Error('These tests need the system Python');
const { path: python } = interpreter;

function bundleWith(requirements: string[]): Bundle {
  return {
    manifest: manifestWith({ requirements }),
    origin: 'external',
    sourceDir: '/skills/test/skill',
    stagedDir: '/staged',
    files: {},
    digest: 'sha256:0',
    kind: 'function',
    lock: 'unlocked',
    entry: 'skill.py',
    inspection: NOTHING_INSPECTED,
    warnings: [],
  };
}

function optionsFor(...requirements: string[]): EnvironmentOptions {
  return { home: tempDir(), interpreter: interpreter!, bundle: bundleWith(requirements) };
}

const environmentsOf = ({ home }: EnvironmentOptions): string[] => readdirSync(join(home, 'environments'));

describe('an environment', () => {
  it('does not exist for a bundle without requirements', async () => {
    const options = optionsFor();
    expect(environmentFor(options)).toBeUndefined();
    expect(await installRequirements(options)).toBeUndefined();
    expect(existsSync(join(options.home, 'environments'))).toBe(false);
  });

  it('that is not installed is an error with the install command', () => {
    const error = errorOf(() => environmentFor(optionsFor('pyyaml')));
    expect(error).toMatchObject({ code: 'skill_unavailable', detail: { requirements: ['pyyaml'] } });
    expect(error.fix).toBe('Install them: skillcell install /skills/test/skill');
  });

  it('is found after its installation, which happens only once', async () => {
    const index = tempDir();
    addWheel(index, 'greeting', 'WORD = "hello"\n');
    useIndex(index);
    const options = optionsFor('greeting');
    const folder = await installRequirements(options);
    expect(environmentFor(options)).toBe(folder);
    expect(await installRequirements(options)).toBe(folder);
    expect(environmentsOf(options)).toHaveLength(1);
  });

  it('is created once by concurrent installations', async () => {
    const index = tempDir();
    addWheel(index, 'greeting', 'WORD = "hello"\n');
    useIndex(index);
    const options = optionsFor('greeting');
    const [first, second] = await Promise.all([installRequirements(options), installRequirements(options)]);
    expect(first).toBe(second);
    expect(environmentsOf(options)).toHaveLength(1);
  });

  it('contains bytecode that Python uses with the flags of a cell', async () => {
    const index = tempDir();
    addWheel(index, 'greeting', 'WORD = "hello"\n');
    useIndex(index);
    const folder = await installRequirements(optionsFor('greeting'));
    const code = `import sys; sys.path.append(${JSON.stringify(folder)}); import greeting`;
    const { stderr } = spawnSync(python, ['-I', '-S', '-B', '-v', '-c', code], { encoding: 'utf8' });
    const bytecode = readdirSync(join(folder!, '__pycache__')).filter((name) => name.startsWith('greeting.'));
    expect(bytecode).toHaveLength(1);
    expect(stderr).toContain(`code object from '${join(folder!, '__pycache__', bytecode[0]!)}'`);
    expect(stderr).not.toContain(`code object from ${join(folder!, 'greeting.py')}`);
  });

  it('can contain PyYAML from the configured index', async () => {
    const folder = await installRequirements(optionsFor('pyyaml'));
    const code = `import sys; sys.path.append(${JSON.stringify(folder)}); import yaml; print(yaml.safe_load("a: [1, off]"))`;
    expect(execFileSync(python, ['-I', '-S', '-B', '-c', code], { encoding: 'utf8' })).toBe(
      "{'a': [1, False]}\n",
    );
  });
});

describe('an installation that fails', () => {
  async function failureOf(options: EnvironmentOptions): Promise<unknown> {
    return installRequirements(options).then(
      () => Promise.reject(new Error('The installation went through')),
      (error: unknown) => error,
    );
  }

  it('names a package that is not in the index, and leaves no files', async () => {
    useIndex(tempDir());
    const options = optionsFor('no-such-package-here');
    const error = await failureOf(options);
    expect(error).toMatchObject({
      code: 'skill_unavailable',
      message: expect.stringContaining('No matching distribution found for no-such-package-here'),
      fix: expect.stringContaining('A package without a wheel'),
      detail: { requirements: ['no-such-package-here'] },
    });
    expect(environmentsOf(options)).toEqual([]);
  });

  it('refuses a package that would have to be built, without running its code', async () => {
    const [index, elsewhere] = [tempDir(), tempDir()];
    const trace = join(elsewhere, 'built');
    addSourceDistribution(index, 'buildme', trace);
    useIndex(index);
    const error = await failureOf(optionsFor('buildme'));
    expect(error).toMatchObject({
      message: expect.stringContaining('No matching distribution found for buildme'),
    });
    expect(existsSync(trace)).toBe(false);
  });

  it.each(['--help', '-h', '--index-url=x', '-r /etc/passwd', './here', 'here/there', 'name @ file:///x'])(
    'never takes %j for an option, a path or a URL',
    async (requirement) => {
      const options = optionsFor(requirement);
      expect(await failureOf(options)).toMatchObject({ code: 'manifest_invalid', detail: { requirement } });
      expect(existsSync(join(options.home, 'environments'))).toBe(false);
    },
  );

  it('never takes a wheel by its file URL', async () => {
    const wheel = pathToFileURL(addWheel(tempDir(), 'greeting', '')).href;
    expect(await failureOf(optionsFor(wheel))).toMatchObject({ code: 'manifest_invalid' });
  });
});
