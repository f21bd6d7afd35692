/**
 * Node's modules for the network, loaded at first use, because most calls never need them. `import 'node:http'` would also
 * load undici: an import reads every export, and some of them load it. That took longer than everything else in a start.
 *
 * @module
 */
import type * as http from 'node:http';
import type * as https from 'node:https';
import type * as tls from 'node:tls';

export function nodeHttp(): typeof http {
  return process.getBuiltinModule('node:http');
}

export function nodeHttps(): typeof https {
  return process.getBuiltinModule('node:https');
}

export function nodeTls(): typeof tls {
  return process.getBuiltinModule('node:tls');
}
