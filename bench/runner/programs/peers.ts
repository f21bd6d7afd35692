/**
 * Names of the peers' rows, and notes about them. The peers themselves are not part of the package.
 *
 * @module
 */
export const PROGRAM_PEER_NAMES = {
  aiSdk: 'a tool in the host, AI SDK code mode',
  cloudflare: 'a tool in the host Worker, Cloudflare executor in workerd',
  cloudflareHttp: 'a tool in Node over HTTP, Cloudflare executor in workerd',
  monty: 'a tool in the host, Monty',
} as const;

export type ProgramPeerName = (typeof PROGRAM_PEER_NAMES)[keyof typeof PROGRAM_PEER_NAMES];

export const PROGRAM_PEER_NOTES: Readonly<Record<ProgramPeerName, string>> = {
  'a tool in the host, AI SDK code mode':
    '@ai-sdk/code-mode: QuickJS on WebAssembly for each program; the tool runs in the Node process that started it',
  'a tool in the host Worker, Cloudflare executor in workerd':
    '@cloudflare/codemode: a Worker for each program; the tool runs in the Worker that loaded it, inside the same workerd process',
  'a tool in Node over HTTP, Cloudflare executor in workerd':
    'the same, but the loading Worker asks a Node process for each call, over HTTP on a Unix socket',
  'a tool in the host, Monty':
    'pydantic-monty: an interpreter for a subset of Python, a session for each program in a reused worker process; the tool runs in the Python process that started it',
};
