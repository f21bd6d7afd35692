/**
 * Determines what a skill depends on from its manifest, the inspection of its source, its packages, and the requests of its
 * cases. Nothing is run here.
 *
 * @module
 */
import type { Bundle } from '../load/bundle.ts';
import type { Finding } from '../load/inspection.ts';
import { isNetworkModule } from '../load/modules.ts';
import { isBundlePath } from '../manifest/places.ts';
import type { Habits } from './habits.ts';
import type { Dependency, DependencyClass, ModeStudy } from './report.ts';

/** From this size on, reading its own data affects the cost of a call. */
const LARGE_DATA = 256 * 1024;
const MAX_REASONS = 6;

export interface ClassifyInput {
  bundle: Bundle;
  habits: Habits;
  modes: readonly ModeStudy[];
  /** Files with native code among the installed packages. */
  nativeFiles: readonly string[];
  dataBytes: number;
}

export function classify(input: ClassifyInput): Dependency[] {
  const reasons: [DependencyClass, string[]][] = [
    ['native', nativeReasons(input)],
    ['network', networkReasons(input)],
    ['filesystem', fileReasons(input)],
    ['import effects', input.habits.imports.map(place)],
    ['state between calls', input.habits.state.map(place)],
  ];
  const found = reasons.filter(([, because]) => because.length > 0);
  if (found.length === 0) return [{ class: 'pure', because: [] }];
  return found.map(([name, because]) => ({
    class: name,
    because: [...new Set(because)].slice(0, MAX_REASONS),
  }));
}

function nativeReasons({ nativeFiles, bundle }: ClassifyInput): string[] {
  const own = Object.keys(bundle.files).filter((path) => /\.(?:so|dylib|dll|node|exe)(?:\.|$)/.test(path));
  // `pillow.libs` belongs to Pillow, and `_cffi_backend.cpython-311-….so` is a module without a folder.
  const packages = new Set(nativeFiles.map((path) => /^[^/.]+/.exec(path)?.[0] ?? path));
  return [...own.map((path) => `contains ${path}`), ...[...packages].map((name) => `package ${name}`)];
}

function networkReasons({ bundle, modes }: ClassifyInput): string[] {
  const { manifest, inspection } = bundle;
  return [
    ...manifest.capabilities.network.map(({ host }) => `declares ${host}`),
    ...inspection.modules
      .filter(({ value }) => isNetworkModule(value))
      .map(({ value }) => `imports ${value}`),
    ...inspection.interfaces
      .filter(({ value }) => /^wasi:(?:http|sockets)\/|#fetch$/.test(value))
      .map(({ value }) => `imports ${value}`),
    ...(inspection.fetches ?? []).slice(0, 1).map(({ at }) => `calls fetch (${at})`),
    ...deniedRequests(modes, 'network'),
  ];
}

function fileReasons({ bundle, modes, dataBytes }: ClassifyInput): string[] {
  const declared = bundle.manifest.capabilities.filesystem.filter(({ path }) => !isBundlePath(path));
  return [
    ...declared.map(({ path, access }) => `declares ${access} ${path}`),
    ...(dataBytes >= LARGE_DATA ? [`contains ${Math.round(dataBytes / 1024)} KiB of data`] : []),
    ...deniedRequests(modes, 'filesystem'),
  ];
}

function deniedRequests(modes: readonly ModeStudy[], capability: string): string[] {
  const prefix = `${capability}: `;
  const all = modes.flatMap(({ denied }) => denied).filter((text) => text.startsWith(prefix));
  return [...new Set(all)].map((text) => `a case tried to ${text.slice(prefix.length)}`);
}

function place({ value, at }: Finding): string {
  return `${value} (${at})`;
}
