/**
 * How to build a skill, by language. The name of the source file determines the language; a new language is one more row.
 *
 * @module
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../package-root.ts';
import { hasNpmPackages } from './npm-packages.ts';
import { buildRust } from './rust.ts';
import { buildScript } from './script.ts';
import { compile, packageFile, requireTool, type Tool, type Workshop } from './tools.ts';
import { buildTypeScript } from './typescript.ts';

export interface Recipe {
  language: string;
  /** The source file that identifies the language. */
  source: string;
  /** `core`: a core module that is wrapped into a component; `done`: a component or a WASI command; `script`: a script. */
  makes: 'core' | 'done' | 'script';
  build: (workshop: Workshop) => void;
  /** Whether the source needs a build; absent: always. */
  appliesTo?: (bundle: string) => boolean;
}

const CLANG: Tool = {
  what: 'the C compiler clang',
  probe: ['clang', '--version'],
  install: 'apt-get install clang lld',
};
const WASM_LD: Tool = {
  what: 'the linker wasm-ld',
  probe: ['wasm-ld', '--version'],
  install: 'apt-get install lld',
};
/** Links a minimal program, because header files do not prove that the library is installed. */
const WASI_LIBC: Tool = {
  what: 'the C library for WASI',
  probe: ['sh', '-c', 'echo "int main(void){return 0;}" | clang --target=wasm32-wasi -xc - -o /dev/null'],
  install: 'apt-get install wasi-libc libclang-rt-dev-wasm32',
};
const GO: Tool = {
  what: 'Go 1.21 or newer',
  probe: ['sh', '-c', 'go tool dist list | grep -q "^wasip1/wasm$"'],
  install: 'apt-get install golang-go (Debian 13 or newer), or download it from go.dev/dl',
};

const C_FLAGS = ['-std=c11', '-O2', '-Wall', '-Wextra', '-Wl,--strip-all', '-Wl,--stack-first'];
const FREESTANDING = [
  '--target=wasm32-unknown-unknown',
  '-ffreestanding',
  '-nostdlib',
  '-mbulk-memory',
  '-fvisibility=hidden',
  '-Wl,--no-entry',
];

export const RECIPES: readonly Recipe[] = [
  {
    language: 'C',
    source: 'src/skill.c',
    makes: 'core',
    build: (workshop) => buildC(workshop, [CLANG, WASM_LD], [...C_FLAGS, ...FREESTANDING, 'src/skill.c']),
  },
  {
    language: 'C with the WASI library',
    source: 'src/main.c',
    makes: 'done',
    build: (workshop) =>
      buildC(workshop, [CLANG, WASM_LD, WASI_LIBC], [...C_FLAGS, '--target=wasm32-wasi', 'src/main.c']),
  },
  { language: 'Rust', source: 'src/lib.rs', makes: 'core', build: buildRust },
  { language: 'Go', source: 'src/main.go', makes: 'done', build: buildGo },
  { language: 'AssemblyScript', source: 'assembly/index.ts', makes: 'core', build: buildAssemblyScript },
  { language: 'TypeScript', source: 'src/skill.ts', makes: 'done', build: buildTypeScript },
  ...['src/index.ts', 'src/index.js'].map((source): Recipe => ({
    language: source.endsWith('.ts') ? 'TypeScript with packages' : 'JavaScript with packages',
    source,
    makes: 'script',
    build: (workshop) => buildScript(workshop, source),
  })),
  {
    language: 'TypeScript with packages',
    source: 'skill.ts',
    makes: 'script',
    // Without packages, it runs as it is.
    appliesTo: hasNpmPackages,
    build: (workshop) => buildScript(workshop, 'skill.ts'),
  },
];

/** The recipes whose source file is in the bundle. */
export function recipesFor(bundle: string): Recipe[] {
  return RECIPES.filter(
    ({ source, appliesTo = () => true }) => existsSync(join(bundle, source)) && appliesTo(bundle),
  );
}

function buildC({ bundle, output }: Workshop, tools: readonly Tool[], args: readonly string[]): void {
  tools.forEach(requireTool);
  compile('clang', [...args, '-o', output], { cwd: bundle, source: 'The C source' });
}

function buildGo({ bundle, output }: Workshop): void {
  requireTool(GO);
  const env = { ...process.env, GOOS: 'wasip1', GOARCH: 'wasm', GOTOOLCHAIN: 'local', GOWORK: 'off' };
  const args = ['build', '-trimpath', '-buildvcs=false', '-ldflags=-s -w', '-o', output, '.'];
  compile('go', args, { cwd: join(bundle, 'src'), env, source: 'The Go source' });
}

function buildAssemblyScript({ bundle, output, packagesFrom }: Workshop): void {
  const compiler = packageFile('assemblyscript', 'bin/asc.js', [...packagesFrom, packageRoot()]);
  // No garbage collector, because an instance lives for one call; no import of `abort`, so a failed check traps.
  const flags = ['-O3', '--runtime', 'stub', '--use', 'abort=', '-o', output];
  compile(process.execPath, [compiler, 'assembly/index.ts', ...flags], {
    cwd: bundle,
    source: 'The AssemblyScript source',
  });
}
