/**
 * Packages that ship native code in every wheel but work without it, such as PyYAML. Their wheel for this machine is
 * repacked without the native code, and pip installs it as a pure Python wheel. None of the package's code is run.
 *
 * @module
 */
import { execFile } from 'node:child_process';
import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { SkillError } from '../../../errors.ts';
import { requirementProblem } from '../../../manifest/names.ts';
import { runPip } from '../python/pip.ts';
import { installWheels, type WheelsOptions } from '../python/wheels.ts';

const run = promisify(execFile);
const REPACK_TIMEOUT_MS = 60_000;
const MAX_PIP_OUTPUT = 64 * 1024;
/** Tested: each of them imports its native code in a `try` and has a fallback in Python. */
const WORKS_WITHOUT: ReadonlySet<string> = new Set(['markupsafe', 'msgpack', 'pyyaml']);
const NOT_FOUND = /No matching distribution found for ([A-Za-z0-9._-]+)([<>=!~][\w.,<>=!~*+]*)?/;
/** Pip reports this without naming the dependency that caused it. */
const IMPOSSIBLE = 'ResolutionImpossible';

interface Missing {
  name: string;
  requirement: string;
}

/** `installWheels`, but repacks wheels of packages that are missing only because of optional native code. */
export async function installWithPureWheels(options: WheelsOptions): Promise<void> {
  const wheels = `${options.folder}.wheels`;
  const repacked = new Set<string>();
  mkdirSync(wheels, { recursive: true });
  try {
    for (;;) {
      const failure = await installWheels({ ...options, extraWheels: wheels }).then(
        () => undefined,
        (error: unknown) => error,
      );
      if (failure === undefined) return;
      const missing = missingPackages(failure, repacked);
      if (missing.length === 0) throw failure;
      for (const { name, requirement } of missing) {
        repacked.add(name);
        await addPureWheel(options, requirement, wheels);
      }
    }
  } finally {
    rmSync(wheels, { recursive: true, force: true });
  }
}

/** Packages to repack: the one that pip names, or all candidates if a dependency must be missing. */
function missingPackages(failure: unknown, repacked: ReadonlySet<string>): Missing[] {
  const output = pipOutput(failure);
  const [, found = '', version = ''] = NOT_FOUND.exec(output) ?? [];
  const named = { name: found.toLowerCase().replaceAll(/[._-]+/g, '-'), version };
  const known = [...WORKS_WITHOUT].map((name) => (name === named.name ? named : { name, version: '' }));
  return known
    .filter(({ name }) => !repacked.has(name) && (name === named.name || output.includes(IMPOSSIBLE)))
    .map((one) => ({ name: one.name, requirement: `${one.name}${one.version}` }))
    .filter(({ requirement }) => requirementProblem(requirement) === undefined);
}

/** The whole output of pip; the error message has only its end. */
function pipOutput(failure: unknown): string {
  const cause = failure instanceof Error ? failure.cause : undefined;
  return cause instanceof Error && 'stderr' in cause ? String(cause.stderr) : '';
}

async function addPureWheel(options: WheelsOptions, requirement: string, wheels: string): Promise<void> {
  const { interpreter, engine, watch } = options;
  const native = join(wheels, 'native');
  mkdirSync(native, { recursive: true });
  const only = ['--progress-bar', 'off', '--no-deps', '--only-binary', ':all:', '--dest', native];
  const args = ['download', ...only, '--', requirement];
  await runPip({ interpreter, folder: native, args, engine, watch });
  for (const name of readdirSync(native)) await repackWheel(interpreter.path, join(native, name), wheels);
  rmSync(native, { recursive: true });
}

interface WheelLimits {
  entries: number;
  /** Of one unpacked file. */
  entryBytes: number;
  /** Of all unpacked files. */
  bytes: number;
  /** Of the process that unpacks the wheel. */
  memory: number;
}

const MIB = 1024 * 1024;
/** Larger than any of the packages that are repacked. */
export const WHEEL_LIMITS: WheelLimits = {
  entries: 5000,
  entryBytes: 32 * MIB,
  bytes: 128 * MIB,
  memory: 1024 * MIB,
};

/** Writes the wheel without its native code to `folder`; throws `skill_unavailable` if it is malformed or a zip bomb. */
export async function repackWheel(python: string, wheel: string, folder: string): Promise<void> {
  const { entries, entryBytes, bytes, memory } = WHEEL_LIMITS;
  const limits = [entries, entryBytes, bytes, memory].map(String);
  try {
    await run(python, ['-I', '-c', REPACK, wheel, folder, ...limits], {
      timeout: REPACK_TIMEOUT_MS,
      maxBuffer: MAX_PIP_OUTPUT,
    });
  } catch (cause) {
    const output = cause instanceof Error && 'stderr' in cause ? String(cause.stderr) : '';
    const reason =
      output.trim().split('\n').at(-1)?.slice(0, 300) || 'the process that unpacks it was killed';
    throw new SkillError(
      'skill_unavailable',
      `The wheel ${JSON.stringify(basename(wheel))} cannot be repacked without its native code: ${reason}`,
      { fix: 'Require another version of the package, or a package with a pure Python wheel.', cause },
    );
  }
}

// Sizes are counted while reading, because the sizes in the directory of a zip file are untrusted.
const REPACK = `
import base64, hashlib, os, re, resource, sys, zipfile

source, folder = sys.argv[1:3]
most_entries, most_entry, most_bytes, memory = map(int, sys.argv[3:])
resource.setrlimit(resource.RLIMIT_AS, (memory, memory))

def described(name, data):
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
    return '"%s",sha256=%s,%d' % (name.replace('"', '""'), digest, len(data))

def kept(name):
    return not name.endswith("/") and not re.search(r"\\.(so|pyd|dylib)(\\.|$)", name)

def checked(name):
    parts = name.split("/")
    if ".." in parts or "" in parts or "\\\\" in name or any(ord(c) < 32 for c in name):
        raise ValueError("a file has the name %s" % ascii(name[:100]))
    return name

def read(archive, left):
    files = {}
    for entry in archive.infolist():
        if not kept(entry.filename):
            continue
        if checked(entry.filename) in files:
            raise ValueError("two files have the name %s" % ascii(entry.filename[:100]))
        with archive.open(entry) as opened:
            data = opened.read(min(left, most_entry) + 1)
        if len(data) > most_entry:
            raise ValueError("a file has more than %d bytes" % most_entry)
        if len(data) > left:
            raise ValueError("the files have more than %d bytes" % most_bytes)
        left -= len(data)
        files[entry.filename] = data
    return files

package, version = os.path.basename(source).split("-")[:2]
tag = "py3-none-any"
with zipfile.ZipFile(source) as old:
    if len(old.infolist()) > most_entries:
        raise ValueError("it has more than %d files" % most_entries)
    files = read(old, most_bytes)
info = "%s-%s.dist-info/" % (package, version)
lines = [line for line in files[info + "WHEEL"].decode().splitlines() if not line.startswith(("Tag:", "Root-Is-"))]
files[info + "WHEEL"] = "\\n".join([*filter(None, lines), "Root-Is-Purelib: true", "Tag: " + tag, ""]).encode()
files.pop(info + "RECORD", None)
record = [described(name, data) for name, data in files.items()] + [info + "RECORD,,"]
files[info + "RECORD"] = "\\n".join(record + [""]).encode()
with zipfile.ZipFile(os.path.join(folder, "-".join((package, version, tag)) + ".whl"), "w", zipfile.ZIP_DEFLATED) as new:
    for name, data in files.items():
        new.writestr(zipfile.ZipInfo(name), data, zipfile.ZIP_DEFLATED)
`;
