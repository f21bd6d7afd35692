/**
 * Compares the code with the manifest. Pure: static findings in, drift and warnings out.
 * Findings that can be wrong are only warnings; the sandbox denies the act at run time either way.
 *
 * @module
 */
import { isBuiltin } from 'node:module';
import type { Manifest } from '../manifest/manifest.ts';
import { envNameProblem } from '../manifest/names.ts';
import { quote } from '../manifest/quote.ts';
import { nameMatches } from '../manifest/star-pattern.ts';
import { COMMAND_RISKS } from '../vocabulary/command-risks.ts';
import { INSTALLERS, NETWORK_PROGRAMS, type Commands, type RiskyCommand } from './commands.ts';
import type { Finding, Inspection } from './inspection.ts';
import { isAvailableModule, isNetworkModule, isOwnModule, isProcessModule } from './modules.ts';
import { requirementsOf } from './requirements.ts';
import type { Kind } from '../vocabulary/kinds.ts';

export interface Drift {
  /** Acts of the code that the manifest does not cover; any of them refuses the load. */
  drift: string[];
  warnings: string[];
}

export interface DriftSource {
  manifest: Manifest;
  inspection: Inspection;
  kind?: Kind;
  /** Programs that its files run. */
  commands?: Commands;
  /** Paths of the bundle's files, to tell its own modules from third-party ones. */
  paths: readonly string[];
}

/** Variables that tools and libraries read routinely; a cell works without them. */
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
    ...uncoveredCalls(source),
    ...nodeModules(source),
    ...missingPackages(source),
    ...namedPrograms(source),
  ];
  // A legacy manifest declares nothing and is granted nothing, so the code cannot contradict it.
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

/** HTTP through the skill interface, for languages without `wasi:http`. */
const HOST_FETCH = /^skillcell:skill\/host(?:@[^#]*)?#fetch$/;

/** Calls of other skills. */
const SKILL_CALLS = /^skillcell:skill\/skills(?:@|$)/;

/** A Wasm binary can use only what it imports, so this is not a guess. */
function uncoveredInterfaces({ manifest, inspection }: DriftSource): string[] {
  const { network, filesystem, skills = [] } = manifest.capabilities;
  const uncovered = inspection.interfaces.filter(
    ({ value }) =>
      value.startsWith('wasi:sockets/') ||
      (network.length === 0 && (value.startsWith('wasi:http/') || HOST_FETCH.test(value))) ||
      (filesystem.length === 0 && value.startsWith('wasi:filesystem/')) ||
      (skills.length === 0 && SKILL_CALLS.test(value)),
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

/** Names that no manifest may declare (PATH, HOME, …) never carry an operator's value into a cell. */
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

/** A secret is only sent to hosts that a network rule allows. */
function unreachableSecrets({ manifest }: DriftSource): string[] {
  const rules = manifest.capabilities.network;
  return Object.entries(manifest.env).flatMap(([name, { secret, hosts }]) =>
    hosts
      .filter((host) => secret && !rules.some((rule) => isHostCovered(rule.host, host)))
      .map((host) => `The secret ${quote(name)} is for ${quote(host)}, which no network rule covers.`),
  );
}

/** Matches exactly, or `*.` for one or more labels; `*.` never matches the bare domain. */
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
    (value, at) =>
      source.kind === 'script'
        ? `The code imports ${value} (${at}), which no installed package seems to provide. See what it needs: \`skillcell install\`.`
        : `The code imports ${value} (${at}), which "requirements" does not seem to provide.`,
  );
}

/** A script may define its own `fetch`, so this can be wrong. */
function uncoveredFetches({ manifest, inspection }: DriftSource): string[] {
  if (manifest.capabilities.network.length > 0) return [];
  return perValue(
    inspection.fetches ?? [],
    (value, at) => `The code calls ${value} (${at}), but the manifest declares no network.`,
  );
}

/** A variable may have the name, so this can be wrong. */
function uncoveredCalls({ manifest, inspection }: DriftSource): string[] {
  const { skills } = manifest.capabilities;
  const uncovered = (inspection.calls ?? []).filter(
    ({ value }) => !skills?.some((pattern) => nameMatches(pattern, value)),
  );
  return perValue(uncovered, (value, at) =>
    skills
      ? `The code calls the skill ${value} (${at}), which "capabilities.skills" does not name.`
      : `The code calls the skill ${value} (${at}), but the manifest declares no "capabilities.skills".`,
  );
}

/** Node modules in a skill that may run in a Wasm cell, which has none. */
function nodeModules({ manifest, inspection }: DriftSource): string[] {
  const mayRunInWasm = manifest.execution.length === 0 || manifest.execution.includes('wasm');
  return perValue(
    inspection.imports?.filter(({ value }) => mayRunInWasm && isBuiltin(value)) ?? [],
    (value, at) =>
      `The code imports ${value} (${at}), which Wasm cells do not have; \`subprocess\` cells do.`,
  );
}

/** Imports that are not a file of the bundle, a module of Skillcell or one of Node. */
function missingPackages({ inspection }: DriftSource): string[] {
  const packages = inspection.imports?.filter(
    ({ value }) => !/^(?:\.{0,2}\/|skillcell:)/.test(value) && !isBuiltin(value),
  );
  return perValue(
    packages ?? [],
    (value, at) =>
      `The code imports ${value} (${at}), which no cell has. List it under "dependencies" in a package.json beside the source, then run \`skillcell build\`, which puts packages into the bundle.`,
  );
}

/** Matched in the text of scripts, so this can be wrong. */
function namedPrograms({ manifest, commands }: DriftSource): string[] {
  if (!commands) return [];
  const { programs, piped, skipped, risks = [] } = commands;
  const hasNetwork = manifest.capabilities.network.length > 0;
  const reaching = programs.filter(({ value }) => !hasNetwork && NETWORK_PROGRAMS.has(value));
  const installing = programs.filter(({ value }) => INSTALLERS.has(value));
  return [
    ...perValue(
      reaching.filter(isInCode),
      (value, at) => `The code names the program ${value} (${at}), but the manifest declares no network.`,
    ),
    ...perValue(
      reaching.filter(isInText),
      (value, at) => `The text names the program ${value} (${at}), but the skill has no network.`,
    ),
    ...perValue(
      installing.filter(isInCode),
      (value, at) =>
        `The code names the installer ${value} (${at}); list the skill's packages under "requirements" instead.`,
    ),
    ...perValue(
      installing.filter(isInText),
      (value, at) => `The text names the installer ${value} (${at}), which a cell cannot use.`,
    ),
    ...perValue(
      piped.filter(isInCode),
      (value, at) => `The code runs a program's output as a script (${at}): ${value}.`,
    ),
    ...perValue(
      piped.filter(isInText),
      (value, at) => `The text tells the model to run a program's output as a script (${at}): ${value}.`,
    ),
    ...risks.map(describeRisk),
    ...perValue(skipped, (value) => `The file ${value} is too long to be searched for programs.`),
  ];
}

function describeRisk({ value, at, risk }: RiskyCommand): string {
  const subject = isInText({ at }) ? 'The text contains a command that' : 'The code';
  return `${subject} ${COMMAND_RISKS[risk]} (${at}): ${quote(value)}.`;
}

/** Commands in texts are run by a model, not by the skill. */
function isInText({ at }: Pick<Finding, 'at'>): boolean {
  return /\.(?:md|markdown):\d+$/i.test(at);
}

function isInCode(finding: Finding): boolean {
  return !isInText(finding);
}

/** One line per value, with the first place where it was found. */
function perValue(findings: readonly Finding[], describe: (value: string, at: string) => string): string[] {
  const first = new Map<string, string>();
  for (const { value, at } of findings) if (!first.has(value)) first.set(value, at);
  return [...first].map(([value, at]) => describe(quote(value), at));
}
