/**
 * Headers and fields that make some servers treat a request as another one than its request line says. If a rule restricts
 * methods or paths, a request with any of these is refused, in every mode.
 *
 * @module
 */
import type { RuledRequest } from './rules.ts';

/** Spelled with hyphens; servers that pass headers as variables read `_` as `-`. */
export const OVERRIDE_HEADERS: readonly string[] = [
  'x-http-method-override',
  'x-http-method',
  'x-method-override',
  'x-original-method',
  'x-forwarded-method',
  'x-original-url',
  'x-original-uri',
  'x-original-path',
  'x-rewrite-url',
  'x-rewrite-uri',
  'x-forwarded-uri',
  'x-forwarded-url',
  'x-forwarded-path',
  'x-forwarded-prefix',
  'x-forwarded-host',
  'x-original-host',
  'x-override-url',
  'x-envoy-original-path',
];

/** Fields of a query; forms in a body are not inspected. */
export const OVERRIDE_FIELDS: readonly string[] = ['_method', 'x-http-method-override', 'x-http-method'];

/** Describes the override; undefined when there is none. */
export function overrideIn({ url, headers }: RuledRequest): string | undefined {
  const header = Object.keys(headers).find((name) => OVERRIDE_HEADERS.includes(name.replaceAll('_', '-')));
  if (header !== undefined) return `header "${header}"`;
  const field = namesIn(url.search).find((name) =>
    OVERRIDE_FIELDS.some((one) => asRead(one) === asRead(name)),
  );
  return field === undefined ? undefined : `field "${field}"`;
}

/** Some servers also separate fields with `;`. */
function namesIn(search: string): string[] {
  return [...new URLSearchParams(search.replaceAll(';', '&')).keys()];
}

/** The name as servers that map fields to variables read it: no leading spaces, `_` for punctuation, `[…]` removed. */
function asRead(name: string): string {
  return name
    .trimStart()
    .toLowerCase()
    .replace(/(?!^)\[[^]*$/, '')
    .replaceAll(/[-. []/g, '_');
}
