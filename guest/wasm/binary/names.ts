/**
 * Names of the component model: kebab-case labels, `[method]res.name`, `ns:pkg/iface@1.2.3`.
 * They are split by hand, because one regular expression for all of it takes exponential time on hostile names.
 *
 * @module
 */
const FRAGMENT = /^(?:[0-9a-z]+|[0-9A-Z]+)$/u;
const LETTER = /^[A-Za-z]/u;
const WORD = /^[0-9a-z]+$/u;
const VERSION = /^\d{1,9}(?:\.\d{1,9}){0,2}(?:-[0-9A-Za-z.-]+)?(?:\+[0-9A-Za-z.-]+)?$/u;
const ANNOTATED = /^\[(constructor|method|static)\](.+)$/u;

/** A kebab-case label: `get-JSON`. */
export function isLabel(text: string): boolean {
  return LETTER.test(text) && text.split('-').every((fragment) => FRAGMENT.test(fragment));
}

function isWords(text: string): boolean {
  return /^[a-z]/u.test(text) && text.split('-').every((word) => WORD.test(word));
}

/** `wasi:http/types@0.2.1` */
function isInterfaceName(text: string): boolean {
  const [path = '', ...versions] = text.split('@');
  if (versions.length > 1 || (versions[0] !== undefined && !VERSION.test(versions[0]))) return false;
  const [namespace = '', rest = '', ...moreColons] = path.split(':');
  const [packageName = '', projection = '', ...moreSlashes] = rest.split('/');
  if (moreColons.length > 0 || moreSlashes.length > 0) return false;
  return isWords(namespace) && isWords(packageName) && isLabel(projection);
}

/** Whether an import or export of a component may have this name. */
export function isExternName(text: string): boolean {
  const annotated = ANNOTATED.exec(text);
  if (annotated === null) return isLabel(text) || isInterfaceName(text);
  const [, annotation, labels = ''] = annotated;
  const parts = labels.split('.');
  return parts.length === (annotation === 'constructor' ? 1 : 2) && parts.every(isLabel);
}

/** Two names with the same key must not occur in one scope. */
export function uniquenessKey(name: string): string {
  const lower = name.toLowerCase();
  if (!lower.startsWith('[') || lower.startsWith('[constructor]')) return lower;
  const labels = lower.slice(lower.indexOf(']') + 1);
  const [first, second] = labels.split('.');
  return first === second ? (first as string) : labels;
}
