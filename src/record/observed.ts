/**
 * What a skill did and tried, read back from the events that the broker and the harness have noted. An event is text for
 * people first; here its few forms are taken apart again.
 *
 * @module
 */
import { usualPort, type Scheme } from '../broker/gateway/rules.ts';
import { PYTHON_STDLIB } from '../load/python-stdlib.ts';
import { normalizeHost } from '../policy/patterns.ts';
import type { CapabilityEvent } from '../outcome.ts';

export interface ObservedRequest {
  host: string;
  port: number;
  scheme: Scheme;
  /** Absent where nobody could see it, as inside of a tunnel. */
  method?: string;
  path?: string;
  denied: boolean;
}

export interface ObservedFile {
  /** As the skill sees it. */
  path: string;
  access: 'read' | 'write';
  denied: boolean;
}

export interface ObservedName {
  name: string;
  denied: boolean;
}

export interface Observed {
  requests: ObservedRequest[];
  files: ObservedFile[];
  env: ObservedName[];
  /** Which secret went to which host. */
  secrets: { name: string; host: string }[];
  processes: ObservedName[];
  /** Python modules beside the standard library. */
  modules: string[];
  /** What cannot be declared, in its own words. */
  other: string[];
}

export function readEvents(used: CapabilityEvent[], denied: CapabilityEvent[]): Observed {
  const observed: Observed = {
    requests: [],
    files: [],
    env: [],
    secrets: [],
    processes: [],
    modules: [],
    other: [],
  };
  for (const event of used) addEvent(observed, event, false);
  for (const event of denied) addEvent(observed, event, true);
  return observed;
}

function addEvent(observed: Observed, { capability, asked }: CapabilityEvent, denied: boolean): void {
  const [verb, what] = splitOnce(asked, ' ');
  const request = capability === 'network' ? readRequest(verb, what, denied) : undefined;
  if (request) observed.requests.push(request);
  else if (capability === 'filesystem' && (verb === 'read' || verb === 'write'))
    observed.files.push({ path: what, access: verb, denied });
  else if (capability === 'env') observed.env.push({ name: what, denied });
  else if (capability === 'secret') observed.secrets.push(readSecret(what));
  else if (capability === 'process') observed.processes.push({ name: what, denied });
  else if (capability === 'module') addModule(observed.modules, what);
  else observed.other.push(asked);
}

/** The standard library is there for everybody. */
function addModule(modules: string[], name: string): void {
  const isOwn = name.startsWith('_') || PYTHON_STDLIB.has(name);
  if (!isOwn && !modules.includes(name)) modules.push(name);
}

function readSecret(what: string): { name: string; host: string } {
  const [name, host] = splitOnce(what, ' to ');
  return { name, host };
}

function readRequest(verb: string, what: string, denied: boolean): ObservedRequest | undefined {
  if (verb === 'connect' || verb === 'resolve') return readServer(what, denied);
  if (!/^[A-Z]+$/.test(verb) || !URL.canParse(what)) return undefined;
  const url = new URL(what);
  const scheme = url.protocol.slice(0, -1) as Scheme;
  const server = {
    host: normalizeHost(url.hostname),
    port: Number(url.port || usualPort(scheme)),
    scheme,
    denied,
  };
  // Whoever asks for a tunnel has not said yet what for.
  return verb === 'CONNECT' ? server : { ...server, method: verb, path: url.pathname };
}

/** `host:port`, as a program asks that speaks to sockets itself; a port alone tells the scheme. */
function readServer(what: string, denied: boolean): ObservedRequest | undefined {
  const [, host, port] = /^(.+?)(?::(\d+))?$/.exec(what) ?? [];
  if (host === undefined) return undefined;
  const number = Number(port ?? usualPort('https'));
  return {
    host: normalizeHost(host),
    port: number,
    scheme: number === usualPort('http') ? 'http' : 'https',
    denied,
  };
}

function splitOnce(text: string, separator: string): [string, string] {
  const at = text.indexOf(separator);
  return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + separator.length)];
}
