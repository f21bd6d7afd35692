/**
 * References to artifacts in registries: `oci://HOST[:PORT]/NAME[:TAG][@DIGEST]`. Only what the distribution specification
 * allows, so that no part of one can change the address of a request.
 *
 * @module
 */
import { SkillError } from '../../errors.ts';
import { quote } from '../../manifest/quote.ts';
import { isLoopbackHost } from '../http/web-address.ts';

export interface OciReference {
  /** With its port, as in addresses. */
  readonly host: string;
  readonly name: string;
  readonly tag?: string | undefined;
  readonly digest?: string | undefined;
}

export const OCI_PREFIX = 'oci://';
export const DIGEST: RegExp = /^sha256:[0-9a-f]{64}$/;
export const TAG: RegExp = /^\w[\w.-]{0,127}$/;
const PART = '[a-z0-9]+(?:(?:\\.|_|__|-+)[a-z0-9]+)*';
const NAME = new RegExp(`^${PART}(?:/${PART})*$`);
const LABEL = '[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?';
const HOST = new RegExp(`^${LABEL}(?:\\.${LABEL})*$`);
const MAX_NAME = 255;
const MAX_LENGTH = 1024;

export function parseReference(text: string): OciReference {
  const reference = text.length > MAX_LENGTH ? undefined : split(text);
  if (reference) return reference;
  throw new SkillError('usage', `${quote(text)} is not a reference to a registry`, {
    fix: 'Write it as oci://HOST/NAME:VERSION, such as oci://localhost:5000/skills/word_stats:1.0.0, with a name in lower case.',
    detail: { reference: text },
  });
}

function split(text: string): OciReference | undefined {
  const found = /^oci:\/\/([^/@\s]+)\/([^:@\s]+)(?::([^:@/\s]+))?(?:@([^@/\s]+))?$/.exec(text);
  if (!found) return undefined;
  const [, host = '', name = '', tag, digest] = found;
  const isValid =
    isHost(host) &&
    NAME.test(name) &&
    host.length + name.length < MAX_NAME &&
    (tag === undefined || TAG.test(tag)) &&
    (digest === undefined || DIGEST.test(digest));
  return isValid ? { host, name, tag, digest } : undefined;
}

/** Registries are reached by https, those on this machine by http. */
export function originOf(host: string): string {
  return `${isLoopbackHost(new URL(`https://${host}`)) ? 'http' : 'https'}://${host}/`;
}

function isHost(host: string): boolean {
  const [, name = '', port = '1'] = /^(\[[0-9a-f:]+\]|[a-z0-9.-]+)(?::([1-9]\d{0,4}))?$/.exec(host) ?? [];
  const isPlain = name.startsWith('[') || HOST.test(name);
  if (!isPlain || Number(port) > 65_535 || !URL.canParse(`https://${name}`)) return false;
  // Other spellings of addresses, such as 127.1 or the usual port, would be compared with the wrong rules.
  return new URL(`https://${name}`).hostname === name && new URL(originOf(host)).host === host;
}

export function formatReference({ host, name, tag, digest }: OciReference): string {
  const [version, exact] = [tag === undefined ? '' : `:${tag}`, digest === undefined ? '' : `@${digest}`];
  return `${OCI_PREFIX}${host}/${name}${version}${exact}`;
}
