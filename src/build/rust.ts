/**
 * Builds skills in Rust: with cargo if there is a Cargo.toml, otherwise with rustc.
 *
 * @module
 */
import { copyFileSync, existsSync, readdirSync } from 'node:fs';
import { spawnSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import { SkillError } from '../errors.ts';
import { compile, requireTool, works, type Workshop } from './tools.ts';

const TARGET = 'wasm32-unknown-unknown';
/** A rustup without the target may shadow a system compiler that has it. */
const COMPILERS = ['rustc', '/usr/bin/rustc'];
const STACK_BYTES = 131_072;
const FLAGS = [
  '-Copt-level=s',
  '-Cpanic=abort',
  '-Clto=fat',
  '-Ccodegen-units=1',
  '-Cstrip=symbols',
  `-Clink-arg=-zstack-size=${STACK_BYTES}`,
];

export function buildRust(workshop: Workshop): void {
  const compiler = COMPILERS.find(hasTarget);
  if (compiler === undefined) throw missingCompiler();
  // rustup includes a linker; the Rust of a distribution uses the system's.
  const linker = works(['wasm-ld', '--version']) ? ['-Clinker=wasm-ld'] : [];
  if (existsSync(join(workshop.bundle, 'Cargo.toml'))) buildWithCargo(workshop, compiler, linker);
  else buildWithRustc(workshop, compiler, linker);
}

function buildWithRustc({ bundle, output }: Workshop, compiler: string, linker: readonly string[]): void {
  const crate = ['--edition=2021', '--crate-name=skill', '--crate-type=cdylib', `--target=${TARGET}`];
  const args = [
    ...crate,
    ...FLAGS,
    ...linker,
    '--remap-path-prefix',
    `${bundle}=`,
    '-o',
    output,
    'src/lib.rs',
  ];
  compile(compiler, args, { cwd: bundle, source: 'The Rust source' });
}

function buildWithCargo(workshop: Workshop, compiler: string, linker: readonly string[]): void {
  const { bundle, scratch, output } = workshop;
  // Uses the cargo next to the compiler, because different versions of cargo and rustc are incompatible.
  const cargo = join(dirname(compiler), 'cargo');
  requireTool({
    what: `cargo next to "${compiler}"`,
    probe: [cargo, '--version'],
    install: 'apt-get install cargo',
  });
  // Flags that a skill needs in any profile; cargo sets the rest.
  const flags = [...linker, '-Cstrip=symbols', `-Clink-arg=-zstack-size=${STACK_BYTES}`].join(' ');
  compile(cargo, ['build', '--release', `--target=${TARGET}`, '--target-dir', scratch], {
    cwd: bundle,
    env: { ...process.env, RUSTC: compiler, RUSTFLAGS: flags },
    source: 'The Rust source',
  });
  const folder = join(scratch, TARGET, 'release');
  const found = readdirSync(folder).find((file) => file.endsWith('.wasm'));
  if (found !== undefined) return copyFileSync(join(folder, found), output);
  throw new SkillError('manifest_invalid', 'Cargo built the crate, but there is no WebAssembly file', {
    fix: 'Add `crate-type = ["cdylib"]` under [lib] in Cargo.toml.',
  });
}

/** Whether the compiler has the standard library for the target. */
function hasTarget(compiler: string): boolean {
  const args = ['--print', 'target-libdir', '--target', TARGET];
  const answer = spawnSync(compiler, args, { encoding: 'utf8' });
  if (answer.status !== 0) return false;
  const folder = answer.stdout.trim();
  return existsSync(folder) && readdirSync(folder).some((file) => file.startsWith('libstd-'));
}

function missingCompiler(): SkillError {
  return new SkillError(
    'skill_unavailable',
    `Building this skill needs Rust for ${TARGET}, which is not installed`,
    {
      fix: `Install it: rustup target add ${TARGET}, or on Debian: apt-get install rustc libstd-rust-dev-wasm32 lld`,
      detail: { tried: COMPILERS },
    },
  );
}
