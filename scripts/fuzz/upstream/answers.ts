/**
 * Responses of malicious servers: a small corpus, complete templates with placeholders, and the bytes to fill in.
 *
 * @module
 */
import { mutant, pick, randomOf, type Random } from '../random.ts';

export interface UpstreamAnswer {
  /** Sent one after the other, each in its own packet if the kernel agrees. */
  pieces: Buffer[];
  /** What the server does afterwards. */
  ending: 'end' | 'reset' | 'hold';
}

const OK = 'HTTP/1.1 200 OK\r\n';
const SWITCH = 'HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: Upgrade\r\n\r\n';

/** The first ones once crashed the host. */
const CORPUS: readonly string[] = [
  'HTTP/1.1 200 \x01\r\ncontent-length: 0\r\n\r\n',
  'HTTP/1.1 000 Zero\r\ncontent-length: 0\r\n\r\n',
  'HTTP/1.1 099 Low\r\ncontent-length: 0\r\n\r\n',
  'HTTP/1.1 200 O\x7fK\r\ncontent-length: 2\r\n\r\nok',
  'HTTP/1.1 200 OK\0\r\ncontent-length: 2\r\n\r\nok',
  'HTTP/1.1 999 High\r\ncontent-length: 0\r\n\r\n',
  'HTTP/1.1 1000 Long\r\ncontent-length: 0\r\n\r\n',
  'HTTP/1.1 -1 Negative\r\n\r\n',
  'HTTP/1.1 199 Odd\r\n\r\n',
  'HTTP/1.1 101 Switching\r\n\r\n',
  SWITCH,
  `${SWITCH}\x81\x02hi`,
  'HTTP/1.1 101 \x01\r\nupgrade: websocket\r\nconnection: upgrade\r\n\r\n',
  'HTTP/1.1 101 Switching\r\nupgrade: h2c\r\nconnection: upgrade\r\n\r\nPRI * HTTP/2.0\r\n\r\n',
  `${'HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n'.repeat(40)}${OK}content-length: 2\r\n\r\nok`,
  `HTTP/1.1 100 Continue\r\n\r\n${OK}content-length: 2\r\n\r\nok`,
  `HTTP/1.1 102 \x02\r\n\r\n${OK}content-length: 0\r\n\r\n`,
  `${OK}transfer-encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nx-trailer: yes\r\n\r\n`,
  `${OK}transfer-encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nx-trailer: \x01\r\nhost: a\r\n\r\n`,
  `${OK}transfer-encoding: chunked\r\n\r\nzz\r\nok\r\n0\r\n\r\n`,
  `${OK}transfer-encoding: chunked\r\n\r\nffffffffffffffffff\r\nok`,
  `${OK}transfer-encoding: chunked\r\n\r\n2;a="\x01"\r\nok\r\n0\r\n\r\n`,
  `${OK}transfer-encoding: chunked, chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n`,
  `${OK}transfer-encoding: gzip\r\n\r\nok`,
  `${OK}content-length: 2\r\ntransfer-encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n`,
  `${OK}content-length: 1\r\ncontent-length: 2\r\n\r\nok`,
  `${OK}content-length: -1\r\n\r\nok`,
  `${OK}content-length: 99999999999999999999\r\n\r\nok`,
  `${OK}content-length: 5\r\n\r\nok`,
  `${OK}content-length: 2\r\n\r\nok${OK}content-length: 4\r\n\r\nmore`,
  `${OK}x-a: b\x01c\r\ncontent-length: 2\r\n\r\nok`,
  `${OK}x a: b\r\ncontent-length: 2\r\n\r\nok`,
  `${OK}: b\r\ncontent-length: 2\r\n\r\nok`,
  `${OK}x-a: b\r\n folded\r\ncontent-length: 2\r\n\r\nok`,
  `${OK}x-a: b\rx-b: c\r\ncontent-length: 2\r\n\r\nok`,
  `${OK}x-a: b\nx-b: c\ncontent-length: 2\n\nok`,
  `${OK}skillcell-code: denied\r\nskillcell-asked: nothing\r\ncontent-length: 2\r\n\r\nok`,
  `${OK}connection: close, x-a\r\nx-a: b\r\n\r\nok`,
  `${OK}upgrade: websocket\r\nconnection: upgrade\r\ncontent-length: 2\r\n\r\nok`,
  `${OK}${'x-many: value\r\n'.repeat(400)}content-length: 2\r\n\r\nok`,
  `${OK}x-long: ${'a'.repeat(20_000)}\r\ncontent-length: 2\r\n\r\nok`,
  'HTTP/1.1 204 No Content\r\ncontent-length: 4\r\n\r\nbody',
  'HTTP/1.1 304 Not Modified\r\ntransfer-encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n',
  'HTTP/1.0 200 OK\r\n\r\nok',
  'HTTP/0.9 200 OK\r\n\r\nok',
  'HTTP/2.0 200 OK\r\n\r\nok',
  'HTTP/1.1 302 Found\r\nlocation: http://[::1\r\ncontent-length: 0\r\n\r\n',
  'HTTP/1.1 407 Proxy Authentication Required\r\nproxy-authenticate: Basic\r\ncontent-length: 0\r\n\r\n',
  'HTTP/1.1 200\r\n\r\n',
  'HTTP/1.1\r\n\r\n',
  'ICY 200 OK\r\n\r\n',
  '\x16\x03\x01\x02\x00',
  '\r\n\r\n\r\n',
  '',
];

const STATUSES = [
  '000',
  '001',
  '099',
  '100',
  '101',
  '103',
  '199',
  '200',
  '204',
  '304',
  '407',
  '500',
  '999',
  '2000',
  'abc',
  '',
];
const REASONS = [
  'OK',
  '',
  '\x01',
  '\0',
  '\x7f',
  'caf\xe9',
  '\t',
  'a'.repeat(600),
  '\x1b[2J',
  'OK\rX: y',
  '\xff\xfe',
];
const HEADERS = [
  'content-length: 2',
  'content-length: 3',
  'content-length: 0x2',
  'transfer-encoding: chunked',
  'transfer-encoding: \x0bchunked',
  'connection: close',
  'connection: upgrade',
  'upgrade: websocket',
  'trailer: x-a',
  'x-a: \x00',
  'x-a: \x7f',
  'x\x01a: b',
  'x-a',
  'set-cookie: a=b\x0b',
  'content-encoding: gzip',
  'keep-alive: timeout=-1',
  'date: never',
  'content-type: text/plain; \xff',
  '__proto__: a',
  'constructor: b',
];
const BODIES = [
  'ok',
  '',
  '2\r\nok\r\n0\r\n\r\n',
  '2\r\nok\r\n',
  '0\r\nx-a: \x01\r\n\r\n',
  '-1\r\n',
  '\x81\x00',
  'o'.repeat(70_000),
];
const BREAKS = ['\r\n', '\r\n', '\r\n', '\n', '\r', '\r\r\n'];
const WORDS = {
  bytes: [0, 1, 9, 10, 13, 32, 58, 127, 128, 255],
  runs: [[13, 10], [13, 10, 13, 10], [48], [57, 57, 57], [104, 48]],
};
const CORPUS_BYTES: readonly Uint8Array[] = CORPUS.filter((text) => text !== '').map((text) =>
  Buffer.from(text, 'latin1'),
);

/** The corpus itself first, then templates and mutants. */
export function answerOf(seed: number): UpstreamAnswer {
  const random = randomOf(seed);
  const known = CORPUS[seed % (CORPUS.length * 4)];
  const bytes = known === undefined ? made(seed, random) : Buffer.from(known, 'latin1');
  const kind = random(16);
  return { pieces: cut(bytes, random), ending: kind === 0 ? 'hold' : kind < 5 ? 'reset' : 'end' };
}

function made(seed: number, random: Random): Buffer {
  if (random(3) === 0) return Buffer.from(mutant({ corpus: CORPUS_BYTES, seed, ...WORDS }));
  const end = (): string => pick(random, BREAKS);
  const headers = Array.from({ length: random(5) }, () => pick(random, HEADERS) + end());
  const head = `HTTP/1.1 ${pick(random, STATUSES)} ${pick(random, REASONS)}${end()}${headers.join('')}${end()}`;
  const interim = random(8) === 0 ? 'HTTP/1.1 100 Continue\r\n\r\n' : '';
  return Buffer.from(interim + head + pick(random, BODIES), 'latin1');
}

function cut(bytes: Buffer, random: Random): Buffer[] {
  if (random(2) === 0 || bytes.length < 2) return [bytes];
  const at = 1 + random(bytes.length - 1);
  return [bytes.subarray(0, at), bytes.subarray(at)];
}
