/**
 * Rules for what a manifest says about its container: the reference of an image and the user inside. Each rule returns what is
 * wrong, or undefined.
 *
 * @module
 */
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

/** The parts of a reference, or undefined when it is none. */
export function parseImageReference(text: string): ImageReference | undefined {
  const [named = '', digest, ...more] = text.split('@');
  const colon = named.indexOf(':', named.lastIndexOf('/') + 1);
  const name = colon === -1 ? named : named.slice(0, colon);
  const tag = colon === -1 ? undefined : named.slice(colon + 1);
  const [domain = '', ...path] = name.split('/');
  const isSound =
    more.length === 0 &&
    name.length <= MAX_NAME &&
    DOMAIN.test(domain) &&
    path.length > 0 &&
    path.every((part) => COMPONENT.test(part)) &&
    (tag === undefined || TAG.test(tag)) &&
    (digest === undefined || DIGEST.test(digest));
  if (!isSound) return undefined;
  return { name, ...(tag === undefined ? {} : { tag }), ...(digest === undefined ? {} : { digest }) };
}

/** One spelling for each image: without a tag and a digest it is the tag `latest` that is meant. */
export function formatImageReference({ name, tag, digest }: ImageReference): string {
  if (digest !== undefined) return `${name}@${digest}`;
  return `${name}:${tag ?? 'latest'}`;
}

export function imageProblem(text: string): string | undefined {
  const reference = parseImageReference(text);
  if (!reference) {
    return `${quote(text)} is no image; write registry, path and tag or digest, such as "localhost/skill:1"`;
  }
  const [domain = ''] = reference.name.split('/');
  // An engine would look for a short name in whatever registries it was set up with, and take the first that has it.
  if (domain === 'localhost' || /[.:]/.test(domain)) return undefined;
  return `${quote(text)} names no registry; write it in front, such as "registry.example.com/${reference.name}"`;
}

const ID = /^(?:0|[1-9][0-9]{0,9})$/;
const NAME = /^[a-z_][a-z0-9_-]{0,31}$/;
/** One less than what the kernel takes for "no user". */
const MAX_ID = 4_294_967_294;

/** `1000`, `1000:1000`, `app` or `app:app`; never root, by whatever spelling. */
export function containerUserProblem(text: string): string | undefined {
  const parts = text.split(':');
  const isSound = parts.length <= 2 && parts.every((part) => isId(part) || NAME.test(part));
  if (!isSound) return `${quote(text)} is no user; write a number or a name, such as "1000:1000"`;
  if (parts.some((part) => part === '0' || part === 'root')) {
    return `${quote(text)} is root; a skill never runs as root, not even inside of a container`;
  }
  return undefined;
}

function isId(text: string): boolean {
  return ID.test(text) && Number(text) <= MAX_ID;
}
