/**
 * Rules for the container section of a manifest: the image reference and the user inside. Each rule returns the problem,
 * or undefined.
 *
 * @module
 */
import { envNameProblem } from './names.ts';
import { quote } from './quote.ts';

export interface ImageReference {
  /** Registry and path: `localhost/skill`. */
  name: string;
  tag?: string;
  /** `sha256:…` */
  digest?: string;
}

const DOMAIN = /^(?:localhost|[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?)(?::[0-9]{1,5})?$/;
const COMPONENT = /^[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*$/;
const TAG = /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$/;
const DIGEST = /^sha256:[0-9a-f]{64}$/;
const MAX_NAME = 255;

/** The parts of a reference, or undefined if the text is not a valid one. */
export function parseImageReference(text: string): ImageReference | undefined {
  const [named = '', digest, ...more] = text.split('@');
  const colon = named.indexOf(':', named.lastIndexOf('/') + 1);
  const name = colon === -1 ? named : named.slice(0, colon);
  const tag = colon === -1 ? undefined : named.slice(colon + 1);
  const [domain = '', ...path] = name.split('/');
  const isValid =
    more.length === 0 &&
    name.length <= MAX_NAME &&
    DOMAIN.test(domain) &&
    path.length > 0 &&
    path.every((part) => COMPONENT.test(part)) &&
    (tag === undefined || TAG.test(tag)) &&
    (digest === undefined || DIGEST.test(digest));
  if (!isValid) return undefined;
  return { name, ...(tag === undefined ? {} : { tag }), ...(digest === undefined ? {} : { digest }) };
}

/** One spelling for each image; without tag and digest, the tag is `latest`. */
export function formatImageReference({ name, tag, digest }: ImageReference): string {
  if (digest !== undefined) return `${name}@${digest}`;
  return `${name}:${tag ?? 'latest'}`;
}

export function imageProblem(text: string): string | undefined {
  const reference = parseImageReference(text);
  if (!reference) {
    return `${quote(text)} is not an image; write registry, path and tag or digest, such as "localhost/skill:1"`;
  }
  const [domain = ''] = reference.name.split('/');
  // A container engine would search its configured registries for a short name and take the first match.
  if (domain === 'localhost' || /[.:]/.test(domain)) return undefined;
  return `${quote(text)} names no registry; write it in front, such as "registry.example.com/${reference.name}"`;
}

const ID = /^(?:0|[1-9][0-9]{0,9})$/;
const NAME = /^[a-z_][a-z0-9_-]{0,31}$/;
/** One less than the kernel's "no user". */
const MAX_ID = 4_294_967_294;

/** `1000`, `1000:1000`, `app` or `app:app`; never root, in any spelling. */
export function containerUserProblem(text: string): string | undefined {
  const parts = text.split(':');
  const isValid = parts.length <= 2 && parts.every((part) => isId(part) || NAME.test(part));
  if (!isValid) return `${quote(text)} is not a user; write a number or a name, such as "1000:1000"`;
  if (parts.some((part) => part === '0' || part === 'root')) {
    return `${quote(text)} is root; a skill never runs as root, not even inside a container`;
  }
  return undefined;
}

function isId(text: string): boolean {
  return ID.test(text) && Number(text) <= MAX_ID;
}

const PARAMS_FILE = /^\/tmp(?:\/[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}){1,8}$/;

/** `stdin`, `env:NAME` or `file:/tmp/…`. */
export function containerParamsProblem(text: string): string | undefined {
  if (text === 'stdin') return undefined;
  const name = paramsVariable(text);
  if (name !== undefined) return envNameProblem(name);
  const path = paramsFile(text);
  if (path === undefined)
    return `${quote(text)} is not a way to pass parameters; write "stdin", "env:NAME" or "file:/tmp/name.json"`;
  return PARAMS_FILE.test(path)
    ? undefined
    : `${quote(path)} cannot be written in a container; use a path below /tmp of letters, digits, "_", "-" and "."`;
}

/** The variable of `env:NAME`. */
export function paramsVariable(params: string | undefined): string | undefined {
  return params?.startsWith('env:') ? params.slice('env:'.length) : undefined;
}

/** The path of `file:/path`. */
export function paramsFile(params: string | undefined): string | undefined {
  return params?.startsWith('file:') ? params.slice('file:'.length) : undefined;
}
