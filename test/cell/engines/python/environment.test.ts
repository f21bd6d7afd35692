import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, statSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  matchesRecord,
  keepIfIntact,
  packagesFolder,
  recordedPackages,
  recordEnvironment,
} from '../../../../src/cell/engines/python/environment.ts';
import { findInterpreter } from '../../../../src/cell/engines/python/interpreter.ts';
import { installWheels } from '../../../../src/cell/engines/python/wheels.ts';
import { tempDir } from '../../../load/helpers.ts';
import { addWheel, useIndex, writeWheel } from './local-index.ts';

const interpreter = findInterpreter();
if (!interpreter) throw new Error('These tests need the system Python');

const sha256 = (file: string): string => createHash('sha256').update(readFileSync(file)).digest('hex');
const WHEEL = { name: 'greeting', version: '1.0', sha256: 'a'.repeat(64) };

/** An environment that was installed a while ago. */
async function oldEnvironment(): Promise<string> {
  const environment = tempDir();
  mkdirSync(join(packagesFolder(environment), 'greeting'), { recursive: true });
  writeFileSync(join(packagesFolder(environment), 'greeting', '__init__.py'), 'WORD = "hello"\n');
  await recordEnvironment(environment, [WHEEL]);
  return environment;
}

const moduleIn = (environment: string): string =>
  join(packagesFolder(environment), 'greeting', '__init__.py');

describe('the record of an environment', () => {
  it('lists every wheel that pip downloaded, including dependencies', async () => {
    const index = tempDir();
    const files = { 'needs_it.py': Buffer.from('import greeting\n') };
    const wheels = [
      addWheel(index, 'greeting', 'WORD = "hello"\n'),
      writeWheel(index, { name: 'Needs_It', tag: 'py3-none-any', files, requires: ['greeting'] }),
    ];
    useIndex(index);
    const folder = join(tempDir(), 'environment');
    await installWheels({
      interpreter,
      requirements: ['needs-it'],
      folder,
      target: [],
      compiles: true,
      engine: 'python',
    });
    expect(recordedPackages(folder)).toMatchObject({
      digest: expect.stringMatching(/^sha256:[0-9a-f]{64}$/),
      packages: [
        { name: 'greeting', version: '1.0', sha256: sha256(wheels[0]!) },
        { name: 'needs-it', version: '1.0', sha256: sha256(wheels[1]!) },
      ],
    });
    expect(await matchesRecord(folder)).toBe(true);
  });

  it('has a digest that depends only on the wheels', async () => {
    const [first, second, other] = [await oldEnvironment(), await oldEnvironment(), await oldEnvironment()];
    await recordEnvironment(other, [{ ...WHEEL, sha256: 'b'.repeat(64) }]);
    expect(recordedPackages(second)?.digest).toBe(recordedPackages(first)?.digest);
    expect(recordedPackages(other)?.digest).not.toBe(recordedPackages(first)?.digest);
  });

  it.each(['', '{}', '{"version":1,"packages":[{"name":"a b"}],"files":""}'])(
    'is invalid when it contains %j',
    async (text) => {
      const environment = await oldEnvironment();
      writeFileSync(join(environment, 'record.json'), text);
      expect(recordedPackages(environment)).toBeUndefined();
      expect(await matchesRecord(environment)).toBe(false);
    },
  );
});

describe('an environment does not match its record when', () => {
  const changes: [string, (environment: string) => void][] = [
    ['a module has other code', (at) => writeFileSync(moduleIn(at), 'WORD = "evil!"\n')],
    ['a module was added', (at) => writeFileSync(join(packagesFolder(at), 'json.py'), '')],
    ['an empty folder was added', (at) => mkdirSync(join(packagesFolder(at), 'json'))],
    ['a link was added', (at) => symlinkSync('/etc', join(packagesFolder(at), 'etc'))],
  ];

  it.each(changes)('%s', async (_, change) => {
    const environment = await oldEnvironment();
    expect(await matchesRecord(environment)).toBe(true);
    change(environment);
    expect(await matchesRecord(environment)).toBe(false);
  });

  it('its code was changed after verification and its size and mtime were reset', async () => {
    const environment = await oldEnvironment();
    const { atime, mtime } = statSync(moduleIn(environment));
    await expect.poll(() => matchesRecord(environment).then(() => isVerified(environment))).toBe(true);
    writeFileSync(moduleIn(environment), 'WORD = "evil!"\n');
    utimesSync(moduleIn(environment), atime, mtime);
    expect(await matchesRecord(environment)).toBe(false);
  });
});

function isVerified(environment: string): boolean {
  return statSync(join(environment, 'verified'), { throwIfNoEntry: false }) !== undefined;
}

describe('an installation', () => {
  it('keeps an environment that matches its record', async () => {
    const environment = await oldEnvironment();
    expect(await keepIfIntact(environment)).toBe(true);
    expect(recordedPackages(environment)).toBeDefined();
  });

  it('replaces an environment that was changed or has no record', async () => {
    const index = tempDir();
    addWheel(index, 'greeting', 'WORD = "hello"\n');
    useIndex(index);
    const folder = join(tempDir(), 'environment');
    const options = {
      interpreter,
      requirements: ['greeting'],
      folder,
      target: [],
      compiles: false,
      engine: 'python' as const,
    };
    mkdirSync(folder);
    writeFileSync(join(folder, 'greeting.py'), 'WORD = "of an older version"\n');
    await installWheels(options);
    expect(await matchesRecord(folder)).toBe(true);
    writeFileSync(join(packagesFolder(folder), 'greeting.py'), 'WORD = "evil"\n');
    await installWheels(options);
    expect(readFileSync(join(packagesFolder(folder), 'greeting.py'), 'utf8')).toBe('WORD = "hello"\n');
    expect(await matchesRecord(folder)).toBe(true);
  });
});
