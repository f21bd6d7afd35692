/**
 * Checks of the package as users get it: built, packed and unpacked in a temporary folder, so that no
 * `dist` stays behind.
 *
 * @module
 */
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { passes, ROOT, runProgram, runTool, WEB_CONFIG, type Step } from './steps.ts';

interface PackageJson {
  readonly name: string;
  readonly version: string;
  readonly files: readonly string[];
  readonly dependencies: Record<string, string>;
  readonly optionalDependencies: Record<string, string>;
}

/** Runs the checks in order; one that fails leaves out those that build on it, and they fail too. */
export function runPackageSteps(): readonly boolean[] {
  const folder = mkdtempSync(join(tmpdir(), 'skillcell-package-'));
  try {
    let standing = true;
    return packageSteps(folder).map((step) => (standing &&= passes(step)));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function packageSteps(folder: string): readonly Step[] {
  const description = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as PackageJson;
  const staged = join(folder, 'staged');
  const tarball = join(folder, `${description.name}-${description.version}.tgz`);
  return [
    { title: 'build', run: () => build(staged, description) },
    {
      title: 'pack',
      run: () =>
        runProgram('npm', ['pack', '--silent', '--ignore-scripts', `--pack-destination=${folder}`], {
          cwd: staged,
        }),
    },
    { title: 'publint', run: () => runTool('publint', ['--strict', tarball]) },
    // Types as TypeScript finds them in an installed package; nobody requires() an ES module on Node 24.
    { title: 'attw', run: () => runTool('attw', ['--profile', 'esm-only', tarball]) },
    {
      title: 'packed command',
      run: () => startsWhenInstalled(tarball, join(folder, 'node_modules'), description),
    },
    {
      title: 'packed console',
      run: () => {
        const installed = join(folder, 'node_modules', description.name);
        return runProgram(process.execPath, [join(ROOT, 'scripts/packed-console.ts'), installed]);
      },
    },
  ];
}

function build(staged: string, description: PackageJson): boolean {
  const shipped = ['package.json', 'README.md', 'LICENSE', ...description.files];
  for (const name of shipped.filter((entry) => entry !== 'dist' && existsSync(join(ROOT, entry)))) {
    cpSync(join(ROOT, name), join(staged, name), { recursive: true });
  }
  const web = ['-p', WEB_CONFIG, '--noEmit', 'false', '--outDir', join(staged, 'dist/src/web')];
  return (
    runTool('tsc', ['-p', 'tsconfig.build.json', '--outDir', join(staged, 'dist')]) && runTool('tsc', web)
  );
}

/** Below `node_modules` no types are stripped, so only the build can answer. */
function startsWhenInstalled(tarball: string, modules: string, description: PackageJson): boolean {
  const installed = join(modules, description.name);
  mkdirSync(installed, { recursive: true });
  for (const name of Object.keys({ ...description.dependencies, ...description.optionalDependencies })) {
    const target = join(ROOT, 'node_modules', name);
    if (!existsSync(target)) continue;
    mkdirSync(dirname(join(modules, name)), { recursive: true });
    symlinkSync(target, join(modules, name));
  }
  return (
    runProgram('tar', ['-xzf', tarball, '--strip-components=1', '-C', installed]) &&
    runProgram(process.execPath, [join(installed, 'bin/skillcell.js'), '--version'])
  );
}
