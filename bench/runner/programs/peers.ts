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
    '@ai-sdk/code-mode: QuickJS on WebAssembly per program; the tool is a function of the process that started it',
  'a tool in the host Worker, Cloudflare executor in workerd':
    '@cloudflare/codemode: a Worker per program; the tool is a function of the Worker that loads it, in the same workerd process',
  'a tool in Node over HTTP, Cloudflare executor in workerd':
    'the same, where the loading Worker asks a Node process, over HTTP on a Unix socket',
  'a tool in the host, Monty':
    'pydantic-monty from the Python index: an interpreter for a subset of Python; a session per program in a reused worker process; the tool is a function of the Python process that started it',
};
