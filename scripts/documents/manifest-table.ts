/**
 * The reference of the manifest: keys, values and defaults from the schema, and here what each of them means. A key
 * without a meaning, or a meaning without a key, is an error, so the page cannot lag behind the code.
 *
 * @module
 */
import { formatDuration, formatSize } from '../../src/manifest/units.ts';
import { DEFAULT_LIMITS } from '../../src/policy/compute-grant.ts';
import { table } from '../skillware-table.ts';
import { manifestKeys, type ManifestKey } from './manifest-keys.ts';

const MEANINGS: Readonly<Record<string, string>> = {
  name: '`category/name` of a-z, 0-9, `_` and `-`. A missing category comes from `category` or from the folder',
  version: 'such as `1.0.0`; absent gives a warning',
  description: 'what it does, for people and models; absent gives a warning',
  short_description: 'one line for `list`',
  parameters: 'JSON Schema of the parameters, draft 2020-12; `$ref` only inside of it',
  outputs:
    'result key to JSON Schema. Missing keys are fine, present ones must fit (a warning only, without `capabilities`)',
  requirements:
    'packages by name and version, no URLs, no options; fetched by `skillcell install` and at no other time',
  execution: 'one mode, or several in order of preference; absent: the strongest that can run it here',
  entry:
    'file to run, inside the bundle; absent: `skill.py`, `skill.ts`, `skill.js`, `skill.wasm` or `Dockerfile`',
  env_vars: 'variables that the skill may read, by name',
  'env_vars.NAME.description': 'what it is for',
  'env_vars.NAME.required': 'without a value the call is refused (`usage`)',
  'env_vars.NAME.secret': 'the skill gets a placeholder, and never the value; see [secrets.md](secrets.md)',
  'env_vars.NAME.hosts': 'where a secret may be sent; a secret needs at least one',
  capabilities: 'what the skill may do. Absent: nothing, and drift is a warning only',
  'capabilities.filesystem': 'folders and files, see [paths](#paths)',
  'capabilities.filesystem[].path': 'relative to the bundle, below `${workspace}`, or absolute',
  'capabilities.filesystem[].access': 'no path inside of the bundle is ever writable',
  'capabilities.filesystem[].max_bytes': 'bytes that one call may add below this path; `wasm` mode only',
  'capabilities.network': 'where requests may go, see [network](#network)',
  'capabilities.network[].host':
    'this name or address; `*.example.com` is every name below it and not `example.com`',
  'capabilities.network[].port': 'absent: that of the scheme',
  'capabilities.network[].scheme': 'absent: `https`',
  'capabilities.network[].methods': 'in upper case; absent: any but `CONNECT` and `TRACE`',
  'capabilities.network[].paths': 'such as `/v1/*`; absent: any',
  'capabilities.syscalls': '`strict` also denies what a pure computation does not need',
  'capabilities.syscalls.deny': 'names that are denied besides the usual ones',
  limits: 'see [limits](#limits)',
  'limits.timeout': 'time from start to answer',
  'limits.cpu': 'processor time',
  'limits.memory': 'memory of the cell, or linear memory in Wasm',
  'limits.output': 'log and result, each',
  'limits.processes': 'processes and threads that it may start',
  'limits.scratch': 'size of `/tmp`',
  container:
    'the image of `container` mode, either by `image` or by `dockerfile`; see [container](#container)',
  'container.image': 'an image by its full name, with the registry; `localhost/…` for one of this machine',
  'container.dockerfile': 'a file of the bundle that `skillcell build` makes an image of',
  'container.build_network': 'the build may use the network; says nothing about calls',
  'container.runtime':
    'a wish: the operator decides which OCI runtime or engine is used. `runsc` is a demand: without gVisor the skill does not run',
  'container.user': 'user inside, never root; absent: what the image says, or nobody',
};

export function formatManifestKeys(): string {
  const keys = manifestKeys();
  const stale = Object.keys(MEANINGS).filter((path) => !keys.some((key) => key.path === path));
  if (stale.length > 0)
    throw new Error(`The manifest has no ${stale.join(', ')}: take it out of ${import.meta.filename}`);
  return table([
    ['key', 'value', 'if absent', 'meaning'],
    ...keys.map((key) => [`\`${key.path}\``, key.value, fallbackOf(key), meaningOf(key)]),
  ]);
}

function meaningOf({ path }: ManifestKey): string {
  const meaning = MEANINGS[path];
  if (meaning === undefined)
    throw new Error(`Say in ${import.meta.filename} what "${path}" of the manifest means`);
  return meaning;
}

function fallbackOf({ path, isRequired, fallback }: ManifestKey): string {
  if (isRequired) return 'an error';
  const limit = path.startsWith('limits.') ? limitInWords(path.slice('limits.'.length)) : undefined;
  return limit ?? (fallback === undefined || fallback === '""' ? '' : `\`${fallback}\``);
}

function limitInWords(name: string): string | undefined {
  if (name === 'processes') return String(DEFAULT_LIMITS.processes);
  if (name === 'timeout' || name === 'cpu') return formatDuration(DEFAULT_LIMITS[name]);
  return formatSize(DEFAULT_LIMITS[name as 'memory' | 'output' | 'scratch']);
}
