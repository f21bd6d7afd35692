/**
 * Checks the packages as users get them: built, packed and unpacked in a temporary folder, so that no
 * `dist` stays behind.
 *
 * @module
 */
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { unexpectedFiles, type PackageName } from './packed-files.ts';
import { passes, ROOT, runProgram, runTool, WEB_CONFIG, type Step } from './steps.ts';

interface PackageJson {
  readonly version: string;
  readonly files: readonly string[];
  readonly dependencies: Record<string, string>;
  readonly optionalDependencies?: Record<string, string>;
}

/** One of the packages of this repository. */
interface Packed {
  readonly name: PackageName;
  /** Folder of its package.json. */
  readonly from: string;
  readonly staged: string;
  readonly tarball: string;
  readonly description: PackageJson;
}

/** Attacks of the corpora that need different parts of the package; the last one starts one of its programs. */
const SOME_ATTACKS = [
  'attack',
  '--mode',
  'wasm',
  '--only',
  'js_eval,py_abort,climb_out,net_own_public_address',
];

/**
 * Runs the checks in order; if one fails, those that depend on it are skipped and count as failed. `canAttack`: this machine
 * has what attacks and their controls need.
 */
export function runPackageSteps(canAttack: boolean): readonly boolean[] {
  const folder = mkdtempSync(join(tmpdir(), 'skillcell-package-'));
  // Attacks and their controls run as other users, who must read programs of the package.
  chmodSync(folder, 0o755);
  // A project that the packages are installed in.
  writeFileSync(join(folder, 'package.json'), '{}');
  try {
    let standing = true;
    return packageSteps(folder, canAttack).map((step) => (standing &&= passes(step)));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Packs and installs the runtime into a folder, without the declarations. Returns the path of its command. */
export function installRuntime(folder: string): string {
  writeFileSync(join(folder, 'package.json'), '{}');
  const runtime = packed(folder, 'skillcell', ROOT);
  const modules = join(folder, 'node_modules');
  if (!stage(runtime) || !bundleCode(runtime) || !pack(runtime, folder) || !install(runtime, modules))
    throw new Error('The package could not be packed and installed');
  return join(modules, runtime.name, 'bin/skillcell.js');
}

function packageSteps(folder: string, canAttack: boolean): readonly Step[] {
  const runtime = packed(folder, 'skillcell', ROOT);
  const attacks = packed(folder, 'skillcell-attacks', join(ROOT, 'attacks'));
  const modules = join(folder, 'node_modules');
  const installed = join(modules, runtime.name);
  const command = join(installed, 'bin/skillcell.js');
  return [
    { title: 'build', run: () => stage(runtime) && build(runtime) && stage(attacks) && bundle(attacks) },
    { title: 'pack', run: () => pack(runtime, folder) && pack(attacks, folder) },
    { title: 'packed files', run: () => [runtime, attacks].every(hasOnlyWhatItMay) },
    {
      title: 'publint',
      run: () => [runtime, attacks].every(({ tarball }) => runTool('publint', ['--strict', tarball])),
    },
    // Types as TypeScript finds them in an installed package; Node 24 programs do not require() an ES module.
    { title: 'attw', run: () => runTool('attw', ['--profile', 'esm-only', runtime.tarball]) },
    {
      title: 'packed command',
      run: () => install(runtime, modules) && runProgram(process.execPath, [command, '--version']),
    },
    { title: 'packed command without attacks', run: () => saysHowToInstall(command, attacks) },
    {
      title: 'packed attacks',
      run: () =>
        install(attacks, modules) &&
        runProgram(process.execPath, [command, 'attack', '--mode', 'trust', '--only', 'name_climbs']) &&
        (!canAttack || runProgram(process.execPath, [command, ...SOME_ATTACKS])),
    },
    {
      title: 'packed console',
      run: () => runProgram(process.execPath, [join(ROOT, 'scripts/packed-console.ts'), installed]),
    },
  ];
}

function packed(folder: string, name: PackageName, from: string): Packed {
  const description = JSON.parse(readFileSync(join(from, 'package.json'), 'utf8')) as PackageJson;
  const tarball = join(folder, `${name}-${description.version}.tgz`);
  return { name, from, staged: join(folder, `staged-${name}`), tarball, description };
}

function stage({ from, staged, description }: Packed): boolean {
  const shipped = ['package.json', 'README.md', 'LICENSE', ...description.files];
  for (const name of shipped.filter((entry) => entry !== 'dist' && existsSync(join(from, entry)))) {
    cpSync(join(from, name), join(staged, name), { recursive: true });
  }
  return true;
}

function build(packed: Packed): boolean {
  const { staged } = packed;
  const web = ['-p', WEB_CONFIG, '--noEmit', 'false', '--outDir', join(staged, 'dist/src')];
  return (
    runTool('tsc', [
      '-p',
      'tsconfig.build.json',
      '--emitDeclarationOnly',
      '--outDir',
      join(staged, 'dist'),
    ]) &&
    runTool('tsc', web) &&
    bundleCode(packed)
  );
}

function bundleCode({ staged }: Packed): boolean {
  return runProgram(process.execPath, [join(ROOT, 'scripts/bundle.ts'), join(staged, 'dist')]);
}

function bundle({ staged }: Packed): boolean {
  return runProgram(process.execPath, [join(ROOT, 'scripts/bundle-attacks.ts'), join(staged, 'dist')]);
}

function pack({ staged }: Packed, folder: string): boolean {
  const args = ['pack', '--silent', '--ignore-scripts', `--pack-destination=${folder}`];
  return runProgram('npm', args, { cwd: staged });
}

function hasOnlyWhatItMay({ name, tarball }: Packed): boolean {
  const { stdout } = spawnSync('tar', ['-tzf', tarball], { encoding: 'utf8', maxBuffer: 1 << 26 });
  const files = stdout.split('\n').filter(Boolean);
  const unexpected = unexpectedFiles(name, files);
  console.log(`${name}: ${files.length} files`);
  for (const problem of unexpected) console.log(problem);
  return unexpected.length === 0;
}

/** Types are not stripped below `node_modules`, so only the build can run. */
function install({ name, tarball, description }: Packed, modules: string): boolean {
  const installed = join(modules, name);
  mkdirSync(installed, { recursive: true });
  for (const needed of Object.keys({ ...description.dependencies, ...description.optionalDependencies })) {
    const [source, target] = [join(ROOT, 'node_modules', needed), join(modules, needed)];
    if (!existsSync(source) || existsSync(target)) continue;
    mkdirSync(dirname(target), { recursive: true });
    symlinkSync(source, target);
  }
  return runProgram('tar', ['-xzf', tarball, '--strip-components=1', '-C', installed]);
}

function saysHowToInstall(command: string, { name, description }: Packed): boolean {
  const result = spawnSync(process.execPath, [command, 'attack'], { encoding: 'utf8' });
  console.log(result.stderr);
  const fix = `fix: Run \`npm install --save-dev ${name}@${description.version}\`.`;
  return result.status === 2 && result.stderr.includes(fix);
}
