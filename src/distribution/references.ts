/**
 * Splits the references of sources other than registries. Strict, because a reference is shown to a person, matched by
 * policies and written to a lockfile: one source has one spelling, and what looks like one thing is not another.
 *
 * @module
 */
import { posix } from 'node:path';
import { SkillError } from '../errors.ts';
import { quote } from '../manifest/quote.ts';
import { SOURCE_KINDS, type SourceKind } from '../vocabulary/source-kinds.ts';
import type { SourceName } from './contract.ts';
import { isLoopbackHost } from './http/web-address.ts';

const MAX_LENGTH = 2048;
const UNSAFE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\\]/u;

const EXAMPLES: Readonly<Record<Exclude<SourceKind, 'oci'>, string>> = {
  github: 'github:owner/repository/folder@v1.2.0',
  git: 'git+https://git.example/owner/repository.git//folder#v1.2.0',
  npm: 'npm:@scope/name@1.2.0',
  file: 'file:./folder-or-archive',
  https: 'https://skills.example/#name',
};

function badReference(kind: Exclude<SourceKind, 'oci'>, reference: string, reason: string): SkillError {
  return new SkillError('usage', `${quote(reference)} is not a valid source: ${reason}.`, {
    fix: `Write it like ${quote(EXAMPLES[kind])}.`,
    detail: { kind, reason },
  });
}

/** The text after the prefix. */
function restOf(kind: Exclude<SourceKind, 'oci'>, reference: string): string {
  const { prefix } = SOURCE_KINDS[kind];
  if (!reference.startsWith(prefix))
    throw badReference(kind, reference, `it does not start with "${prefix}"`);
  if (reference.length > MAX_LENGTH) throw badReference(kind, reference, 'it is too long');
  if (UNSAFE.test(reference))
    throw badReference(kind, reference, 'it has control, invisible or backslash characters');
  return reference.slice(prefix.length);
}

export interface GithubName extends SourceName {
  readonly owner: string;
  readonly repository: string;
  /** The folder of the skill; empty for the whole repository. */
  readonly path: string;
}

export function parseGithub(reference: string): GithubName {
  const rest = restOf('github', reference);
  const { before, after } = splitAt(rest, '@');
  const [owner = '', repository = '', ...folders] = before.split('/');
  if (
    !/^[A-Za-z\d](?:[A-Za-z\d-]{0,38})$/.test(owner) ||
    !/^[\w.-]{1,100}$/.test(repository) ||
    /^\.+$/.test(repository)
  )
    throw badReference('github', reference, 'it needs an owner and a repository');
  const path = folders.join('/');
  if (folders.length > 0 && !isPlainPath(path))
    throw badReference('github', reference, 'its folder is not a plain path');
  if (after !== undefined && !isRef(after))
    throw badReference('github', reference, 'its version is not a tag, branch or commit');
  if (/\.git$/i.test(repository))
    throw badReference('github', reference, 'its repository is usually written without ".git"');
  // GitHub reads both in any case, and rules and signers are found by this text.
  const place = [owner.toLowerCase(), repository.toLowerCase(), ...folders].join('/');
  return { source: `github:${place}`, version: after, owner, repository, path };
}

export interface GitName extends SourceName {
  readonly url: string;
  readonly path: string;
}

/** `git+https://host/repository.git//folder#ref` */
export function parseGit(reference: string): GitName {
  const { before, after } = splitAt(restOf('git', reference), '#');
  const [scheme = '', ...parts] = before.split('//');
  const [place = '', path] = parts;
  if (parts.length > 2) throw badReference('git', reference, 'it has more than one folder');
  const address = `${scheme}//${place}`;
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (!url || !isWebUrl(url) || url.pathname === '/' || url.search !== '')
    throw badReference('git', reference, 'it needs an https address of a repository');
  if (url.href !== address)
    throw badReference('git', reference, `its address is usually written ${quote(url.href)}`);
  if (url.pathname.endsWith('/')) throw badReference('git', reference, 'its address ends with a slash');
  if (path !== undefined && !isPlainPath(path))
    throw badReference('git', reference, 'its folder is not a plain path');
  if (after !== undefined && !isRef(after))
    throw badReference('git', reference, 'its version is not a tag, branch or commit');
  return { source: `git+${before}`, version: after, url: address, path: path ?? '' };
}

export interface NpmName extends SourceName {
  readonly name: string;
  readonly scope: string | undefined;
}

export function parseNpm(reference: string): NpmName {
  const rest = restOf('npm', reference);
  // The first character of a scoped name is an at sign too.
  const at = rest.indexOf('@', 1);
  const name = at === -1 ? rest : rest.slice(0, at);
  const version = at === -1 ? undefined : rest.slice(at + 1);
  const found = /^(?:(@[a-z\d~-][a-z\d._~-]*)\/)?[a-z\d~-][a-z\d._~-]*$/.exec(name);
  if (!found || name.length > 214)
    throw badReference('npm', reference, 'it needs the name of a package in lower case');
  if (version !== undefined && !/^[A-Za-z\d][\w.+-]{0,127}$/.test(version))
    throw badReference('npm', reference, 'its version is not a version or tag');
  return { source: `npm:${name}`, version, name, scope: found[1] };
}

export interface FileName extends SourceName {
  readonly path: string;
}

/** A path on this machine, relative to the project, or `file:///absolute`. */
export function parseFile(reference: string): FileName {
  const rest = restOf('file', reference);
  const path = rest.startsWith('///') ? rest.slice(2) : rest;
  if (path === '' || path.startsWith('//'))
    throw badReference('file', reference, 'it needs a path on this machine');
  if (path.startsWith('~'))
    throw badReference('file', reference, '"~" is replaced only by a shell: write the whole path');
  const normal = posix.normalize(path).replace(/(?<=.)\/$/, '');
  return { source: `file:${normal}`, path: normal };
}

export interface IndexName extends SourceName {
  /** The address of the index. */
  readonly url: string;
  /** The skill; undefined if the index may name only one. */
  readonly skill: string | undefined;
}

const WELL_KNOWN = '.well-known/agent-skills/index.json';

/** `https://host/#name`: the well-known index below this address, or the address of an index itself. */
export function parseIndex(reference: string): IndexName {
  const isLocal = reference.startsWith('http://');
  restOf('https', isLocal ? reference.replace('http://', 'https://') : reference);
  const { before, after } = splitAt(reference, '#');
  const url = URL.canParse(before) ? new URL(before) : undefined;
  if (!url || !isWebUrl(url) || url.search !== '')
    throw badReference('https', reference, 'it needs an https address without a question mark');
  if (!url.pathname.endsWith('.json')) url.pathname = `${url.pathname.replace(/\/$/, '')}/${WELL_KNOWN}`;
  if (after !== undefined && !isSkillName(after))
    throw badReference('https', reference, 'its name is not the name of a skill');
  const source = `${url.href}${after === undefined ? '' : `#${after}`}`;
  return { source, url: url.href, skill: after };
}

/** The name of an Agent Skill. */
export function isSkillName(text: string): boolean {
  return text.length <= 64 && /^[a-z\d]+(?:-[a-z\d]+)*$/.test(text);
}

/** Only what every source has. */
export function plainName({ source, version }: SourceName): SourceName {
  return { source, version };
}

/** The reference of a source whose versions follow an `@`. */
export function atVersion({ source, version }: SourceName): string {
  return version === undefined ? source : `${source}@${version}`;
}

/** A full commit, in either hash of git. */
export function isCommit(text: string): boolean {
  return /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(text);
}

function isWebUrl(url: URL): boolean {
  const isPlain = url.username === '' && url.password === '' && url.hash === '' && !isOddlyWritten(url);
  return isPlain && (url.protocol === 'https:' || (url.protocol === 'http:' && isLoopbackHost(url)));
}

/** Servers read these like the plain spelling, which rules and signers are found by. */
function isOddlyWritten({ hostname, pathname }: URL): boolean {
  const escapes = pathname.match(/%.{0,2}/g) ?? [];
  return (
    hostname.endsWith('.') ||
    escapes.some((one) => !/^%(?![46][1-9A-F]|[57][0-9A]|3[0-9]|2[DEF]|5[CF]|7E)[0-9A-F]{2}$/.test(one))
  );
}

/** A path of plain segments, none of which climbs. */
function isPlainPath(path: string): boolean {
  return (
    path.length <= 512 && path.split('/').every((part) => /^[\w. +-]+$/.test(part) && !/^\.\.?$/.test(part))
  );
}

/** The rules of git for references, without the characters that mean something else to a shell, a URL or git. */
function isRef(text: string): boolean {
  const isPlain = text.length <= 255 && /^[\w][\w./+-]*$/.test(text);
  return isPlain && !/\.\.|\/\/|\/\.|\/$|\.$|\.lock(?:\/|$)/.test(text);
}

function splitAt(text: string, mark: string): { before: string; after: string | undefined } {
  const at = text.indexOf(mark);
  return at === -1
    ? { before: text, after: undefined }
    : { before: text.slice(0, at), after: text.slice(at + 1) };
}
