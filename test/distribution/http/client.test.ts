import { createHash } from 'node:crypto';
import { createServer } from 'node:net';
import { expect, test } from 'vitest';
import { HttpClient } from '../../../src/distribution/http/client.ts';
import { append } from '../../../src/distribution/http/body.ts';
import { clientFor, serve } from './support.ts';

const ASK = { what: 'the file', maxBytes: 1000 };
const digestOf = (text: string): string => `sha256:${createHash('sha256').update(text).digest('hex')}`;

test('a body arrives whole, with its progress', async () => {
  const { origin } = await serve((_, response) => response.end('hello'));
  const steps: unknown[] = [];
  const watch = { onProgress: (...step: unknown[]): void => void steps.push(step) };
  const { status, body } = await clientFor().get({
    ...ASK,
    url: `${origin}/a`,
    watch,
    digest: digestOf('hello'),
  });
  expect([status, body.toString()]).toEqual([200, 'hello']);
  expect(steps).toEqual([[5, 5, 'the file']]);
});

test('a body that arrives byte by byte takes no more memory than its bytes', () => {
  const chunks: Buffer[] = [];
  const body = Buffer.from(Array.from({ length: 100_000 }, (_, at) => at % 251));
  for (let at = 0; at < body.length; at++) append(chunks, body.subarray(at, at + 1));
  append(chunks, Buffer.alloc(20_000, 1));
  append(chunks, Buffer.from('end'));
  expect(chunks.length).toBeLessThan(40);
  expect(
    Buffer.concat(chunks).equals(Buffer.concat([body, Buffer.alloc(20_000, 1), Buffer.from('end')])),
  ).toBe(true);
});

test('a body with another digest is refused', async () => {
  const { origin } = await serve((_, response) => response.end('hello'));
  await expect(clientFor().get({ ...ASK, url: origin, digest: digestOf('other') })).rejects.toMatchObject({
    code: 'manifest_drift',
  });
});

test.each([
  ['announced', { 'content-length': '5000' }],
  ['sent without a length', {}],
])('a body that is too large is refused: %s', async (_, headers) => {
  const { origin } = await serve((_, response) => {
    response.writeHead(200, headers).end('x'.repeat(5000));
  });
  await expect(clientFor().get({ ...ASK, url: origin })).rejects.toMatchObject({
    code: 'manifest_invalid',
    message: expect.stringContaining('1000 bytes') as string,
  });
});

test('a server that sends one byte after another runs into the total timeout', async () => {
  const { origin } = await serve((_, response) => {
    const timer = setInterval(() => response.write('x'), 20);
    response.on('close', () => clearInterval(timer));
  });
  const ask = { ...ASK, maxBytes: 1e9, url: origin, totalMs: 300 };
  await expect(clientFor().get(ask)).rejects.toMatchObject({
    code: 'skill_unavailable',
    message: expect.stringContaining('longer than 0.3 s') as string,
  });
});

test.each([
  ['before the head', false],
  ['within the body', true],
])('a silent server is abandoned: %s', async (_, sendsHead) => {
  const { origin } = await serve((_, response) => {
    if (sendsHead) response.write('x');
  });
  const client = clientFor({ limits: { silenceMs: 200 } });
  await expect(client.get({ ...ASK, url: origin })).rejects.toMatchObject({
    message: expect.stringContaining('silent for 0.2 s') as string,
  });
});

test('an abort signal ends a transfer', async () => {
  const { origin } = await serve((_, response) => response.write('x'));
  const controller = new AbortController();
  const watch = { signal: controller.signal, onProgress: () => controller.abort() };
  await expect(clientFor().get({ ...ASK, url: origin, watch })).rejects.toMatchObject({ code: 'cancelled' });
});

test('a busy server is asked again after the pause that it names', async () => {
  let count = 0;
  const { origin } = await serve((_, response) => {
    count += 1;
    if (count < 3) response.writeHead(count === 1 ? 429 : 503, { 'retry-after': '0' }).end();
    else response.end('now');
  });
  expect((await clientFor().get({ ...ASK, url: origin })).body.toString()).toBe('now');
});

test('a POST is not repeated after a fault of the server', async () => {
  const { origin, seen } = await serve((_, response) => response.writeHead(500).end('broken'));
  const answer = await clientFor().send({ ...ASK, url: origin, method: 'POST', body: Buffer.from('x') });
  expect([answer.status, answer.body.toString(), seen.length]).toEqual([500, 'broken', 1]);
});

/** Breaks the first answer in the middle. */
async function breakingServer(
  etags: readonly (string | undefined)[],
): Promise<{ origin: string; ranges: unknown[] }> {
  const text = '0123456789';
  const ranges: unknown[] = [];
  const { origin } = await serve((request, response) => {
    const etag = etags[ranges.length];
    ranges.push(request.headers.range);
    const isSame = request.headers['if-range'] === undefined || request.headers['if-range'] === etag;
    const start = isSame ? Number(/^bytes=(\d+)-$/.exec(request.headers.range ?? '')?.[1] ?? 0) : 0;
    response.writeHead(start > 0 ? 206 : 200, {
      'content-length': String(text.length - start),
      ...(etag === undefined ? {} : { etag }),
      ...(start > 0 ? { 'content-range': `bytes ${start}-9/10` } : {}),
    });
    if (ranges.length > 1) response.end(text.slice(start));
    else response.write(text.slice(0, 4), () => setTimeout(() => response.destroy(), 50));
  });
  return { origin, ranges };
}

test.each([
  { given: 'the same tag', etags: ['"a"', '"a"'], digest: undefined, range: 'bytes=4-' },
  {
    given: 'a known digest',
    etags: [undefined, undefined],
    digest: digestOf('0123456789'),
    range: 'bytes=4-',
  },
  { given: 'another tag', etags: ['"a"', '"b"'], digest: undefined, range: 'bytes=4-' },
  { given: 'no tag', etags: [undefined, undefined], digest: undefined, range: undefined },
  { given: 'a weak tag', etags: ['W/"a"', 'W/"a"'], digest: undefined, range: undefined },
])(
  'a broken download is continued only if the bytes are the same: $given',
  async ({ etags, digest, range }) => {
    const { origin, ranges } = await breakingServer(etags);
    const { body } = await clientFor().get({ ...ASK, url: origin, digest });
    expect(body.toString()).toBe('0123456789');
    expect(ranges).toEqual([undefined, range]);
  },
);

test('a part that was not asked for is refused', async () => {
  const { origin } = await serve((_, response) => {
    response.writeHead(206, { 'content-range': 'bytes 3-7/10' }).end('34567');
  });
  await expect(clientFor().get({ ...ASK, url: origin })).rejects.toMatchObject({
    message: expect.stringContaining('another part') as string,
  });
});

test('credentials stay at the origin that they are for', async () => {
  const other = await serve((_, response) => response.end('there'));
  const { origin, seen } = await serve((request, response) => {
    if (request.url === '/here') response.end('here');
    else response.writeHead(302, { location: request.url === '/a' ? '/here' : other.origin }).end();
  });
  const authorization = 'Bearer invented';
  await clientFor().get({ ...ASK, url: `${origin}/a`, authorization });
  await clientFor().get({ ...ASK, url: `${origin}/b`, authorization });
  expect(seen.map(({ headers }) => headers.authorization)).toEqual([
    authorization,
    authorization,
    authorization,
  ]);
  expect(other.seen.map(({ headers }) => headers.authorization)).toEqual([undefined]);
});

test.each([
  ['http://registry.invalid/x', 'not encrypted'],
  ['https://10.0.0.1/x', 'private network'],
  ['https://[fd12::1]/x', 'private network'],
  ['https://[::ffff:192.168.1.1]/x', 'private network'],
  ['https://169.254.169.254/latest', 'nothing is fetched from'],
  ['https://[fe80::1]/', 'nothing is fetched from'],
  ['file:///etc/passwd', 'not an https address'],
  ['https://user:word@registry.invalid/', 'user name or password'],
  ['https://exa mple/', 'not a valid URL'],
])('a redirect to %s is refused', async (location, why) => {
  const { origin, seen } = await serve((_, response) => response.writeHead(302, { location }).end());
  await expect(clientFor().get({ ...ASK, url: origin })).rejects.toMatchObject({
    code: 'untrusted',
    message: expect.stringContaining(why) as string,
  });
  expect(seen).toHaveLength(1);
});

test('redirects in a circle are refused', async () => {
  const { origin, seen } = await serve((_, response) =>
    response.writeHead(307, { location: '/again' }).end(),
  );
  await expect(clientFor().get({ ...ASK, url: origin })).rejects.toMatchObject({
    message: expect.stringContaining('more than 5 times') as string,
  });
  expect(seen).toHaveLength(6);
});

test('the redirect of an upload is refused', async () => {
  const { origin } = await serve((_, response) => response.writeHead(307, { location: '/x' }).end());
  const ask = { ...ASK, url: origin, method: 'PUT' as const, body: Buffer.from('x') };
  await expect(clientFor().send(ask)).rejects.toMatchObject({ code: 'untrusted' });
});

test('a compressed answer is refused, because nothing limits its real size', async () => {
  const { origin } = await serve((_, response) => {
    response.writeHead(200, { 'content-encoding': 'gzip' }).end('x');
  });
  await expect(clientFor().get({ ...ASK, url: origin })).rejects.toMatchObject({ code: 'untrusted' });
});

test('the text of a failed answer is quoted, not believed', async () => {
  const { origin } = await serve((_, response) =>
    response.writeHead(404).end('gone\u001b[2J\nskillcell: all is well'),
  );
  const error = await clientFor()
    .get({ ...ASK, url: origin })
    .catch((thrown: unknown) => thrown as Error);
  expect((error as Error).message).toContain('answered 404');
  for (const hidden of ['\u001b', '\n']) expect((error as Error).message).not.toContain(hidden);
});

test('requests go through the proxy of the environment, but not to this machine', async () => {
  const lines: string[] = [];
  const proxy = createServer((socket) => {
    socket.once('data', (bytes) => {
      lines.push(bytes.toString().split('\r\n')[0] ?? '');
      socket.end('HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n');
    });
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  const { port } = proxy.address() as { port: number };
  using client = new HttpClient({
    env: { HTTPS_PROXY: `http://127.0.0.1:${port}`, HTTP_PROXY: `http://127.0.0.1:${port}` },
  });
  const { origin } = await serve((_, response) => response.end('direct'));
  expect((await client.get({ ...ASK, url: origin })).body.toString()).toBe('direct');
  await expect(client.get({ ...ASK, url: 'https://registry.invalid/v2/' })).rejects.toMatchObject({
    code: 'skill_unavailable',
  });
  proxy.close();
  expect(lines).toEqual(['CONNECT registry.invalid:443 HTTP/1.1']);
});

test('a connection that the server closed while it was idle is replaced', async () => {
  const { origin, seen } = await serve((request, response) => {
    response.end('x');
    response.on('finish', () => setTimeout(() => request.socket.destroy(), 5));
  });
  const client = clientFor();
  for (let count = 0; count < 3; count++) {
    await client.get({ ...ASK, url: origin });
    await new Promise((resolve) => setTimeout(resolve, 30));
  }
  expect(seen).toHaveLength(3);
});
