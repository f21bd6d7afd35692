/**
 * URL and URLSearchParams of the prelude behave like Node's.
 *
 * @module
 */
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { URL as OwnURL, URLSearchParams as OwnParams } from '../../../guest/wasm/js/prelude/url.ts';
import { words } from '../../words.ts';

const PARTS = [
  'href',
  'origin',
  'protocol',
  'username',
  'password',
  'host',
  'hostname',
  'port',
  'pathname',
  'search',
  'hash',
] as const;

type Parts = Record<(typeof PARTS)[number], string>;
type Read = (url: string, base?: string) => Parts | 'refused';

function reader(kind: new (url: string, base?: string) => Parts): Read {
  return (url, base) => {
    try {
      const parsed = base === undefined ? new kind(url) : new kind(url, base);
      return Object.fromEntries(PARTS.map((part) => [part, parsed[part]])) as Parts;
    } catch {
      return 'refused';
    }
  };
}

const own = reader(OwnURL);
const nodes = reader(URL);

const FIXED = [
  ...[
    'http://example.org',
    'HTTP://EXAMPLE.org:80/',
    'https://a.b:443/x/../y/./z?q#f',
    'https://u:p@h:8080/a%20b?c d#e f',
  ],
  ...[
    'http:/x',
    'http:\\\\x\\y',
    'http:x',
    'http://',
    'https:///x//y',
    'http://a b/',
    'http://a%20b/',
    'http://[::1]:3000/x',
  ],
  ...[
    'http://[2001:db8:0:0:1:0:0:1]/',
    'http://[::ffff:1.2.3.4]',
    'http://[1:2]',
    'http://1.2.3',
    'http://0x7f.1',
    'http://256.1.1.1',
  ],
  ...[
    'http://0300.168.1.1',
    'http://1.2.3.4.5',
    'http://1.2.3.09',
    'http://münchen.de/ä?ö#ü',
    'http://例え.jp',
    'http://xn--mnchen-3ya.de',
  ],
  ...[
    'mailto:a@b.c',
    'data:text/plain,hello world',
    'file:///a/b',
    'file:/a/../b',
    'file://host/x',
    'ftp://f/x',
    'ws://w',
    'foo://bar/baz?q',
    'foo:/a/../b',
  ],
  ...[
    'javascript:alert(1)',
    '//x/y',
    '/x',
    '',
    ' \thttp://x\n/y ',
    'http://x:99999',
    'http://x:a',
    'http://@x',
    'http://u@/',
  ],
  ...[
    'http://h/%2e%2E/a',
    'http://h/a/%2e',
    "http://h/?a'b",
    'http://h/a^b|c`d{e}',
    'http://h?x',
    'http://h#x',
    'http://h/#',
    'http://h/?',
    'http://a..b',
    'http://%A0/',
    '//a%FFb',
    '//%EF%BF%BD',
    'http://a.',
  ],
];
const BASES = [
  undefined,
  'http://base.org/a/b/c?q#f',
  'https://u:p@base.org:8080',
  'file:///a/b',
  'foo://bar/x/y',
  'mailto:x@y',
];

test.each(FIXED.flatMap((url) => BASES.map((base) => [url, base] as const)))(
  'the URL %j with base %j is parsed as in Node',
  (url, base) => {
    expect(own(url, base)).toEqual(nodes(url, base));
  },
);

test('any HTTP URL is parsed as in Node', () => {
  const piece = fc.oneof(
    fc.constantFrom(...words('/ .. . ? # @ : % %20 %2e a B 1 [ ] & = + " < ^ | ü 😀'), '\\', ' ', '\t'),
    fc.string({ maxLength: 3 }),
  );
  const rest = fc.array(piece, { maxLength: 10 }).map((parts) => parts.join(''));
  const host = fc.constantFrom('h', 'example.org', '127.0.0.1', '[::1]', 'A.b:81', 'x:443');
  fc.assert(
    fc.property(fc.constantFrom('http', 'https'), host, rest, (scheme, place, more) => {
      const url = `${scheme}://${place}/${more}`;
      expect(own(url)).toEqual(nodes(url));
      expect(own(more, url)).toEqual(nodes(more, url));
    }),
    { numRuns: 3000 },
  );
});

test('any host is read as in Node, even one of percent signs and bytes that are not UTF-8', () => {
  // No first bytes of longer sequences: they could spell letters that only the tables of IDNA refuse.
  const byte = fc
    .oneof(fc.integer({ min: 0, max: 0xbf }), fc.integer({ min: 0xf8, max: 0xff }))
    .map((value) => `%${value.toString(16).padStart(2, '0')}`);
  const marks = fc.constantFrom('%C3%BC', '%C2%A0', '%g', '.', ':', '@', '-', 'a', '1');
  const piece = fc.oneof(byte, marks, fc.string({ maxLength: 2 }));
  const host = fc.array(piece, { minLength: 1, maxLength: 4 }).map((parts) => `//${parts.join('')}`);
  fc.assert(
    fc.property(host, fc.constantFrom('http://base.org/a', 'foo://bar/x'), (url, base) => {
      expect(own(url, base)).toEqual(nodes(url, base));
    }),
    { numRuns: 5000, examples: [['//%A0', 'http://base.org/a']] },
  );
});

test('parts of a URL can be changed', () => {
  for (const [part, value] of [
    ['pathname', 'x y/../z?#'],
    ['search', '?a=b c'],
    ['search', ''],
    ['hash', '#x y'],
    ['hash', ''],
    ['port', '443'],
    ['port', '81'],
    ['host', 'other:82'],
    ['hostname', 'Other'],
    ['protocol', 'http'],
    ['protocol', 'foo'],
    ['username', 'ü:'],
    ['password', 'p@'],
    ['href', 'http://n/'],
  ] as const) {
    const [one, other] = [new OwnURL('https://u@h:8080/p?q=1#f'), new URL('https://u@h:8080/p?q=1#f')];
    one[part] = value;
    other[part] = value;
    expect([part, value, one.href, one.searchParams.toString()]).toEqual([
      part,
      value,
      other.href,
      other.searchParams.toString(),
    ]);
  }
  const url = new OwnURL('https://h/?a=1&b=2&a=3');
  url.searchParams.set('a', 'x y');
  url.searchParams.append('ü', '&');
  url.searchParams.delete('b');
  expect(String(url)).toBe('https://h/?a=x+y&%C3%BC=%26');
});

test('any query is parsed and serialized as in Node', () => {
  const text = fc.array(
    fc.oneof(
      fc.constantFrom(...words('& = + % %C3 %C3%BC %FF %E2%82 %F0%9F%98%80 ? a ~ *')),
      fc.string({ maxLength: 2 }),
    ),
    { maxLength: 12 },
  );
  fc.assert(
    fc.property(
      text.map((parts) => parts.join('')),
      (query) => {
        const [one, other] = [new OwnParams(query), new URLSearchParams(query)];
        expect([...one]).toEqual([...other]);
        expect(one.toString()).toBe(other.toString());
      },
    ),
    { numRuns: 2000 },
  );
});
