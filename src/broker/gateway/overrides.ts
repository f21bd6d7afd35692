/**
 * What makes some servers take a request for another one than its first line says. Where a rule is about methods or paths,
 * a request with any of these is refused, in every mode.
 *
 * @module
 */
import type { RuledRequest } from './rules.ts';

/** As they are written with hyphens: servers that hand headers on as variables read `_` for `-`. */
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

/** Fields of a query; forms in a body are not looked into. */
export const OVERRIDE_FIELDS: readonly string[] = ['_method', 'x-http-method-override', 'x-http-method'];

/** What it is, in words; undefined when there is none. */
export function overrideIn({ url, headers }: RuledRequest): string | undefined {
  const header = Object.keys(headers).find((name) => OVERRIDE_HEADERS.includes(name.replaceAll('_', '-')));
  if (header !== undefined) return `header "${header}"`;
  const field = namesIn(url.search).find((name) =>
    OVERRIDE_FIELDS.some((one) => asRead(one) === asRead(name)),
  );
  return field === undefined ? undefined : `field "${field}"`;
}

/** Some servers begin a field at each `;` as well. */
function namesIn(search: string): string[] {
  return [...new URLSearchParams(search.replaceAll(';', '&')).keys()];
}

/** As servers that make variables of fields read a name: no blanks in front, `_` for signs, `[…]` for a list of it. */
function asRead(name: string): string {
  return name
    .trimStart()
    .toLowerCase()
    .replace(/(?!^)\[[^]*$/, '')
    .replaceAll(/[-. []/g, '_');
}
