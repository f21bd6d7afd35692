/**
 * Do the code and the manifest agree? Pure: static findings in, drift and warnings out.
 * A finding that can be wrong is a warning; the boundary denies at run time either way.
 *
 * @module
 */
import { isBuiltin } from 'node:module';
import type { Manifest } from '../manifest/manifest.ts';
import { envNameProblem } from '../manifest/names.ts';
import { quote } from '../manifest/quote.ts';
import { INSTALLERS, NETWORK_PROGRAMS, type Commands } from './commands.ts';
import type { Finding, Inspection } from './inspection.ts';
import { isAvailableModule, isNetworkModule, isOwnModule, isProcessModule } from './modules.ts';
import { requirementsOf } from './requirements.ts';

export interface Drift {
  /** The code does what the manifest does not cover: the load is refused. */
  drift: string[];
  warnings: string[];
}

export interface DriftSource {
  manifest: Manifest;
  inspection: Inspection;
  /** What its files name as programs. */
  commands?: Commands;
  /** Paths of the files of the bundle, to tell its own modules from foreign ones. */
  paths: readonly string[];
}

/** Names that tools and libraries look at by the way; a cell without them works as well. */
const HARMLESS_ENV: ReadonlySet<string> = new Set(
  'TZ TERM COLUMNS LINES NO_COLOR FORCE_COLOR HOSTNAME CI DEBUG NODE_ENV PYTEST_CURRENT_TEST'.split(' '),
);

export function findDrift(source: DriftSource): Drift {
  const drift = [
    ...uncoveredNetwork(source),
    ...uncoveredInterfaces(source),
    ...undeclaredEnv(source),
    ...unparsedSource(source),
  ];
  const warnings = [
    ...uncoveredHosts(source),
    ...unreachableSecrets(source),
    ...uncoveredProcesses(source),
    ...unknownModules(source),
    ...uncoveredFetches(source),
    ...modulesOfNode(source),
    ...missingPackages(source),
    ...namedPrograms(source),
  ];
  // A legacy manifest declares nothing and is granted nothing: it cannot contradict itself.
  if (!source.manifest.declaresCapabilities) return { drift: [], warnings: [...drift, ...warnings] };
  return { drift, warnings };
}

function uncoveredNetwork({ manifest, inspection, paths }: DriftSource): string[] {
  if (manifest.capabilities.network.length > 0) return [];
  return perValue(
    inspection.modules.filter(({ value }) => isNetworkModule(value) && !isOwnModule(value, paths)),
    (value, at) => `The code imports ${value} (${at}), but the manifest declares no network.`,
  );
}

/** The http of the skill interface, for languages without `wasi:http`. */
const HOST_FETCH = /^skillcell:skill\/host(?:@[^#]*)?#fetch$/;

/** What a Wasm binary imports is what it can use, so this is no guess. */
function uncoveredInterfaces({ manifest, inspection }: DriftSource): string[] {
  const { network, filesystem } = manifest.capabilities;
  const uncovered = inspection.interfaces.filter(
    ({ value }) =>
      value.startsWith('wasi:sockets/') ||
      (network.length === 0 && (value.startsWith('wasi:http/') || HOST_FETCH.test(value))) ||
      (filesystem.length === 0 && value.startsWith('wasi:filesystem/')),
  );
  return perValue(
    uncovered,
    (value, at) => `The binary imports ${value} (${at}), which no capability of the manifest covers.`,
  );
}

function undeclaredEnv({ manifest, inspection }: DriftSource): string[] {
  const undeclared = inspection.env.filter(
    ({ value }) => !isHarmlessEnv(value) && !Object.hasOwn(manifest.env, value),
  );
  return perValue(
    undeclared,
    (value, at) => `The code reads the variable ${value} (${at}), which "env_vars" does not declare.`,
  );
}

/** A name that no manifest may declare (PATH, HOME, …) never has a value of the operator in a cell. */
export function isHarmlessEnv(name: string): boolean {
  return HARMLESS_ENV.has(name) || envNameProblem(name) !== undefined;
}

function unparsedSource({ inspection }: DriftSource): string[] {
  return inspection.unparsed.map(
    ({ value, at }) => `The source at ${quote(at)} cannot be parsed: ${quote(value)}.`,
  );
}

function uncoveredHosts({ manifest, inspection }: DriftSource): string[] {
  const rules = manifest.capabilities.network;
  const uncovered = inspection.hosts.filter(
    ({ value }) => !rules.some((rule) => isHostCovered(rule.host, value)),
  );
  return perValue(
    uncovered,
    (value, at) => `The code names the host ${value} (${at}), which no network rule covers.`,
  );
}

/** A secret goes where a network rule lets a request go, and nowhere else. */
function unreachableSecrets({ manifest }: DriftSource): string[] {
  const rules = manifest.capabilities.network;
  return Object.entries(manifest.env).flatMap(([name, { secret, hosts }]) =>
    hosts
      .filter((host) => secret && !rules.some((rule) => isHostCovered(rule.host, host)))
      .map((host) => `The secret ${quote(name)} is for ${quote(host)}, which no network rule covers.`),
  );
}

/** Is this host within a declared one? Exact, or `*.` for one or more labels; never the bare domain. */
function isHostCovered(declared: string, host: string): boolean {
  const pattern = declared.toLowerCase();
  const name = host.toLowerCase();
  if (!pattern.startsWith('*.')) return name === pattern;
  return name.endsWith(pattern.slice(1)) && name.length > pattern.length - 1;
}

function uncoveredProcesses({ manifest, inspection }: DriftSource): string[] {
  if ((manifest.limits.processes ?? 0) > 0) return [];
  return perValue(
    inspection.modules.filter((finding) => isProcessModule(finding.value)),
    (value, at) => `The code uses ${value} (${at}), but "limits.processes" allows no child process.`,
  );
}

function unknownModules(source: DriftSource): string[] {
  const { inspection, paths } = source;
  const sources = { requirements: requirementsOf(source), paths };
  const unknown = inspection.modules.filter(({ value }) => !isAvailableModule(value, sources));
  return perValue(
    unknown.map(({ value, at }) => ({ value: value.split('.')[0] ?? value, at })),
    (value, at) => `The code imports ${value} (${at}), which "requirements" does not seem to provide.`,
  );
}

/** A word in a script may mean something of its own, so this can be wrong. */
function uncoveredFetches({ manifest, inspection }: DriftSource): string[] {
  if (manifest.capabilities.network.length > 0) return [];
  return perValue(
    inspection.fetches ?? [],
    (value, at) => `The code calls ${value} (${at}), but the manifest declares no network.`,
  );
}

/** Modules of Node, in a skill that may run where there are none. */
function modulesOfNode({ manifest, inspection }: DriftSource): string[] {
  const mayRunInWasm = manifest.execution.length === 0 || manifest.execution.includes('wasm');
  return perValue(
    inspection.imports?.filter(({ value }) => mayRunInWasm && isBuiltin(value)) ?? [],
    (value, at) => `The code imports ${value} (${at}), which Wasm cells do not have; \`subprocess\` has it.`,
  );
}

/** Neither a file of the bundle, nor a module of ours or of Node. */
function missingPackages({ inspection }: DriftSource): string[] {
  const packages = inspection.imports?.filter(
    ({ value }) => !/^(?:\.{0,2}\/|skillcell:)/.test(value) && !isBuiltin(value),
  );
  return perValue(
    packages ?? [],
    (value, at) =>
      `The code imports ${value} (${at}), which no cell has; \`skillcell build\` puts packages into the bundle.`,
  );
}

/** Found in the text of scripts, so this can be wrong. */
function namedPrograms({ manifest, commands }: DriftSource): string[] {
  if (!commands) return [];
  const { programs, piped, skipped } = commands;
  const hasNetwork = manifest.capabilities.network.length > 0;
  const reaching = programs.filter(({ value }) => !hasNetwork && NETWORK_PROGRAMS.has(value));
  const installing = programs.filter(({ value }) => INSTALLERS.has(value));
  return [
    ...perValue(
      reaching,
      (value, at) => `The code names the program ${value} (${at}), but the manifest declares no network.`,
    ),
    ...perValue(
      installing,
      (value, at) =>
        `The code names the installer ${value} (${at}); packages of a skill belong into "requirements".`,
    ),
    ...perValue(piped, (value, at) => `The code runs what a program prints as a script (${at}): ${value}.`),
    ...perValue(skipped, (value) => `The file ${value} is too long to be looked through for programs.`),
  ];
}

/** One line per value, however often it was found; the first place stands for all. */
function perValue(findings: readonly Finding[], describe: (value: string, at: string) => string): string[] {
  const first = new Map<string, string>();
  for (const { value, at } of findings) if (!first.has(value)) first.set(value, at);
  return [...first].map(([value, at]) => describe(quote(value), at));
}
