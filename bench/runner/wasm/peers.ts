/**
 * Names of the peers' rows, and what has to be said about them. The peers themselves are not part of the package.
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
  'Extism, worker': 'a plugin per call on a thread of its own, its module compiled ahead',
  'Extism, in-process':
    'a plugin per call on the thread of its caller: nobody can stop it, nothing is around it',
  'jco glue, in-process':
    'the C component, translated once, instantiated per call: nobody can stop it either',
  'quickjs-emscripten': 'a runtime and context per call, in the process of its caller; all share one memory',
  'isolated-vm': 'a V8 isolate per call, in the process of its caller',
  workerd: 'an isolate per call, made by its worker loader; a request on a unix socket',
  'workerd, not fresh': 'the same request to one isolate that serves all calls',
  'node, spawned': 'the bundled Node, a process per call without any wall',
  'deno, spawned': 'a process per call; its permissions are the wall',
};
