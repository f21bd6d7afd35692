/**
 * The manifest reference: keys, values and defaults from the schema, with their meanings from here. A key
 * without a meaning, or a meaning without a key, is an error, so the page cannot lag behind the code.
 *
 * @module
 */
import { formatLimit } from '../../src/manifest/units.ts';
import { DECLARED_LIMITS, DEFAULT_LIMITS } from '../../src/vocabulary/limits.ts';
import { table } from '../skillware-table.ts';
import { manifestKeys, type ManifestKey } from './manifest-keys.ts';

const MEANINGS: Readonly<Record<string, string>> = {
  name: '`category/name` of a-z, 0-9, `_` and `-`. A missing category comes from `category` or from the folder',
  version: 'such as `1.0.0`; absent gives a warning',
  description: 'what it does, for people and models; absent gives a warning',
  short_description: 'one line for `list`',
  parameters: 'JSON Schema of the parameters, draft 2020-12; `$ref` only within the schema',
  outputs:
    'maps each result key to a JSON Schema, also as `{ type: object, properties: … }`. Keys may be missing; present ones must fit (only a warning without `capabilities`)',
  requirements: 'packages by name and version, without URLs or options; fetched only by `skillcell install`',
  execution:
    'one mode, or several in order of preference; absent: the strongest one available here that can run it',
  execution_mode:
    'a key of Skillware. `isolated` refuses every mode without a jail or container around the skill, see [execution_mode](#execution_mode)',
  entry:
    'file to run, inside the bundle; absent: `skill.py`, `skill.ts`, `skill.js`, `skill.wasm` or `Dockerfile`',
  idempotent:
    '`true`: the same call may run twice, so in a [cluster](cluster.md#at-most-once) a request whose outcome is unknown may be repeated; absent: never',
  env_vars: 'variables that the skill may read, by name',
  'env_vars.NAME.description': 'what it is for',
  'env_vars.NAME.required': 'without a value the call is refused (`usage`)',
  'env_vars.NAME.secret': 'the skill gets a placeholder, never the value; see [secrets.md](secrets.md)',
  'env_vars.NAME.hosts': 'where a secret may be sent; a secret needs at least one',
  capabilities: 'what the skill may do. Absent: nothing, and drift is only a warning',
  'capabilities.filesystem': 'folders and files, see [paths](#paths)',
  'capabilities.filesystem[].path': 'relative to the bundle, below `${workspace}`, or absolute',
  'capabilities.filesystem[].access': 'paths inside the bundle are never writable',
  'capabilities.filesystem[].max_bytes': 'bytes that one call may add below this path; `wasm` mode only',
  'capabilities.network': 'where requests may go, see [network](#network)',
  'capabilities.network[].host':
    'this name or address; `*.example.com` covers every subdomain but not `example.com` itself',
  'capabilities.network[].port': 'absent: the default port of the scheme',
  'capabilities.network[].scheme': 'absent: `https`',
  'capabilities.network[].methods': 'in upper case; absent: any but `CONNECT` and `TRACE`',
  'capabilities.network[].paths': 'such as `/v1/*`; absent: any',
  'capabilities.syscalls': '`strict` also denies calls that a pure computation does not need',
  'capabilities.syscalls.deny': 'system calls to deny in addition to the default list',
  'capabilities.skills':
    'skills that it may call, such as `text/word_stats` or `text/*`, each with its own grant; see [programs.md](programs.md). Enforced for JavaScript, TypeScript and Python in Wasm; refused in other modes',
  'capabilities.programs':
    'system programs that a command of an Agent Skills folder may start directly, such as `pdftoppm`; other kinds of skill are refused',
  limits: 'see [limits](#limits)',
  'limits.timeout': 'time from start to result',
  'limits.cpu': 'processor time',
  'limits.memory': 'memory of the cell, or linear memory in Wasm',
  'limits.output': 'maximum size of the log and of the result, each',
  'limits.processes': 'processes and threads the skill may start',
  'limits.scratch': 'size of `/tmp`',
  container:
    'the image for `container` mode, given by either `image` or `dockerfile`; see [container](#container)',
  'container.image': 'full name of an image, including the registry; `localhost/…` for a local image',
  'container.dockerfile': 'a file in the bundle that `skillcell build` builds an image from',
  'container.build_network': 'the build may use the network; does not affect calls',
  'container.runtime':
    'a preference: the operator decides which OCI runtime or engine is used. `runsc` is mandatory: without gVisor the skill does not run',
  'container.user': 'user inside the container, never root; absent: the user of the image, or `nobody`',
  'container.params':
    'how a program of the image gets its parameters: `stdin`, `env:NAME` or `file:/tmp/…`; absent: `stdin`',
};

export function formatManifestKeys(): string {
  const keys = manifestKeys();
  const stale = Object.keys(MEANINGS).filter((path) => !keys.some((key) => key.path === path));
  if (stale.length > 0)
    throw new Error(`The manifest has no ${stale.join(', ')}: remove it from ${import.meta.filename}`);
  return table([
    ['key', 'value', 'if absent', 'meaning'],
    ...keys.map((key) => [`\`${key.path}\``, key.value, fallbackOf(key), meaningOf(key)]),
  ]);
}

function meaningOf({ path }: ManifestKey): string {
  const meaning = MEANINGS[path];
  if (meaning === undefined)
    throw new Error(`"${path}" of the manifest has no meaning. Add it to ${import.meta.filename}`);
  return meaning;
}

function fallbackOf({ path, isRequired, fallback }: ManifestKey): string {
  if (isRequired) return 'an error';
  const limit = path.startsWith('limits.') ? limitInWords(path.slice('limits.'.length)) : undefined;
  return limit ?? (fallback === undefined || fallback === '""' ? '' : `\`${fallback}\``);
}

function limitInWords(name: string): string | undefined {
  const limit = DECLARED_LIMITS.find((one) => one === name);
  return limit && formatLimit(limit, DEFAULT_LIMITS[limit]);
}
