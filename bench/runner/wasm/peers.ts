/**
 * Names of the peers' rows, and notes about them. The peers themselves are not part of the package.
 *
 * @module
 */
export const PEER_NAMES = {
  extismWorker: 'Extism, worker',
  extismInProcess: 'Extism, in-process',
  jco: 'jco glue, in-process',
  quickjs: 'quickjs-emscripten',
  isolatedVm: 'isolated-vm',
  workerd: 'workerd',
  workerdWarm: 'workerd, not fresh',
  node: 'node, spawned',
  deno: 'deno, spawned',
} as const;

export type PeerName = (typeof PEER_NAMES)[keyof typeof PEER_NAMES];

export const PEER_NOTES: Readonly<Record<PeerName, string>> = {
  'Extism, worker': 'a plugin per call on its own thread, module compiled ahead of time',
  'Extism, in-process': 'a plugin per call on the caller’s thread: cannot be interrupted, no outer wall',
  'jco glue, in-process':
    'the C component, translated once, instantiated per call: cannot be interrupted either',
  'quickjs-emscripten': 'a runtime and context per call, in the caller’s process; all share one memory',
  'isolated-vm': 'a V8 isolate per call, in the caller’s process',
  workerd: 'an isolate per call, created by its worker loader; a request over a Unix socket',
  'workerd, not fresh': 'the same request to one isolate that serves every call',
  'node, spawned': 'the bundled Node, a process per call with no wall',
  'deno, spawned': 'a process per call; Deno permissions are the wall',
};
