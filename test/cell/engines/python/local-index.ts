/** A package index made of files, so that tests of pip need neither network nor third-party packages. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { execFileSync } from 'node:child_process';
import { onTestFinished } from 'vitest';

/** Makes pip use only this folder for the rest of the test. */
export function useIndex(folder: string): void {
  const before = { ...process.env };
  process.env['PIP_NO_INDEX'] = '1';
  process.env['PIP_FIND_LINKS'] = folder;
  process.env['PIP_CONFIG_FILE'] = '/dev/null';
  onTestFinished(() => {
    for (const name of ['PIP_NO_INDEX', 'PIP_FIND_LINKS', 'PIP_CONFIG_FILE']) {
      if (before[name] === undefined) delete process.env[name];
      else process.env[name] = before[name];
    }
  });
}

/** Adds a wheel with one module to the folder. */
export function addWheel(folder: string, name: string, source: string): string {
  return writeWheel(folder, { name, tag: 'py3-none-any', files: { [`${name}.py`]: Buffer.from(source) } });
}

/** The contents of a wheel without its metadata. */
export interface WheelContent {
  name: string;
  /** Language, ABI and platform, as in the file name. */
  tag: string;
  files: Record<string, Uint8Array>;
  /** Absent: 1.0. */
  version?: string;
  /** Dependencies. */
  requires?: string[];
}

export function writeWheel(
  folder: string,
  { name, tag, files, version = '1.0', requires = [] }: WheelContent,
): string {
  const info = `${name}-${version}.dist-info`;
  const described = {
    ...files,
    [`${info}/METADATA`]: Buffer.from(
      `Metadata-Version: 2.1\nName: ${name}\nVersion: ${version}\n${requires.map((one) => `Requires-Dist: ${one}\n`).join('')}`,
    ),
    [`${info}/WHEEL`]: Buffer.from(
      `Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: ${tag}\n`,
    ),
    [`${info}/RECORD`]: Buffer.from(''),
  };
  const target = join(folder, `${name}-${version}-${tag}.whl`);
  const script = `
import base64, json, sys, zipfile
with zipfile.ZipFile(sys.argv[1], "w") as wheel:
    for name, text in json.load(sys.stdin).items():
        wheel.writestr(name, base64.b64decode(text))
`;
  const encoded = Object.entries(described).map(([path, bytes]) => [
    path,
    Buffer.from(bytes).toString('base64'),
  ]);
  mkdirSync(folder, { recursive: true });
  execFileSync('/usr/bin/python3', ['-I', '-c', script, target], {
    input: JSON.stringify(Object.fromEntries(encoded)),
  });
  return target;
}

/** Adds a source distribution whose build would create the file `trace`. */
export function addSourceDistribution(folder: string, name: string, trace: string): void {
  const source = join(folder, `${name}-1.0`);
  mkdirSync(source, { recursive: true });
  writeFileSync(join(source, 'setup.py'), `open(${JSON.stringify(trace)}, "w").close()\n`);
  writeFileSync(join(source, 'PKG-INFO'), `Metadata-Version: 2.1\nName: ${name}\nVersion: 1.0\n`);
  execFileSync('tar', ['-czf', join(folder, `${name}-1.0.tar.gz`), '-C', folder, `${name}-1.0`]);
}
