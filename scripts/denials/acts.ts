/**
 * Operations that no grant covers, and the one answer that each must get in every mode. Each language has a program for
 * every `op`; the operations are defined here, once for all of them.
 *
 * @module
 */

/** What a language must be able to do. */
export type Op =
  | { op: 'read'; path: string }
  | { op: 'fetch'; method: string; url: string }
  | { op: 'environment'; name: string }
  | { op: 'call'; name: string }
  | {
      op: 'write' | 'spawn' | 'sleep' | 'spin' | 'memory' | 'output' | 'crowd' | 'scratch';
    };

/** What is around the cell. */
export interface Place {
  /** Port of the server that is partly granted. */
  port: number;
  /** Port of another server. */
  otherPort: number;
  /** A file next to the workspace. */
  outsideFile: string;
}

export interface Act {
  name: string;
  /** Code, then capability or limit. */
  answer: string;
  op: (place: Place) => Op;
  /** In milliseconds; absent: the manifest's value. */
  timeout?: number;
  /** Added to those of the manifest. */
  limits?: Record<string, unknown>;
  capabilities?: Record<string, unknown>;
}

const request =
  (url: (place: Place) => string, method = 'GET') =>
  (place: Place): Op => ({ op: 'fetch', method, url: url(place) });

const NETWORK = 'capability_denied network';

export const ACTS: readonly Act[] = [
  {
    name: 'read an ungranted file',
    answer: 'capability_denied filesystem',
    op: ({ outsideFile }) => ({ op: 'read', path: outsideFile }),
  },
  { name: 'write into the bundle', answer: 'capability_denied filesystem', op: () => ({ op: 'write' }) },
  {
    name: 'connect to an undeclared host',
    answer: NETWORK,
    op: request(() => 'http://other.test/open/page'),
  },
  {
    name: 'wrong port',
    answer: NETWORK,
    op: request(({ otherPort }) => `http://127.0.0.1:${otherPort}/open/page`),
  },
  { name: 'wrong method', answer: NETWORK, op: request(({ port }) => url(port, '/open/page'), 'POST') },
  { name: 'wrong path', answer: NETWORK, op: request(({ port }) => url(port, '/closed/page')) },
  {
    name: 'encoded path traversal',
    answer: NETWORK,
    op: request(({ port }) => url(port, '/open/%2e%2e/closed/page')),
  },
  {
    name: 'declared name of a private address',
    answer: NETWORK,
    op: request(({ port }) => `http://private.test:${port}/open/page`),
  },
  {
    name: 'redirect to another host',
    answer: NETWORK,
    op: request(({ port }) => url(port, '/open/redirect')),
  },
  {
    name: 'read an undeclared variable',
    answer: 'capability_denied env',
    op: () => ({ op: 'environment', name: 'HOST_SECRET' }),
  },
  { name: 'start a program', answer: 'capability_denied process', op: () => ({ op: 'spawn' }) },
  {
    name: 'call an undeclared skill',
    answer: 'capability_denied skill',
    op: () => ({ op: 'call', name: 'util/unit_convert' }),
    capabilities: { skills: ['text/word_stats'] },
  },
  {
    name: 'sleep past the deadline',
    answer: 'resource_exceeded timeout',
    op: () => ({ op: 'sleep' }),
    timeout: 500,
  },
  { name: 'compute forever', answer: 'resource_exceeded cpu', op: () => ({ op: 'spin' }) },
  { name: 'take 1 GiB of memory', answer: 'resource_exceeded memory', op: () => ({ op: 'memory' }) },
  { name: 'return 8 MiB', answer: 'resource_exceeded output', op: () => ({ op: 'output' }) },
  {
    name: 'start more programs than declared',
    answer: 'resource_exceeded processes',
    op: () => ({ op: 'crowd' }),
    limits: { processes: 4 },
  },
  { name: 'write 64 MiB to /tmp', answer: 'resource_exceeded scratch', op: () => ({ op: 'scratch' }) },
];

/** One manifest for nearly all acts: it grants none of them. */
export function manifestFor(
  { port }: Place,
  { limits = {}, capabilities = {} }: Act,
): Record<string, unknown> {
  const rule = { port, scheme: 'http', methods: ['GET'], paths: ['/open/*'] };
  return {
    version: '1.0.0',
    description: 'Does what no manifest grants.',
    capabilities: {
      filesystem: [{ path: '${workspace}', access: 'read' }],
      network: [
        { host: '127.0.0.1', ...rule },
        { host: 'private.test', ...rule },
      ],
      ...capabilities,
    },
    limits: { timeout: '60s', cpu: '3s', memory: '256MiB', output: '1MiB', scratch: '4MiB', ...limits },
  };
}

function url(port: number, path: string): string {
  return `http://127.0.0.1:${port}${path}`;
}
