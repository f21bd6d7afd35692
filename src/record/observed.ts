/**
 * Parses what a skill did and tried from the events that the broker and the harness recorded. Events are primarily text for
 * people, so this parses their few forms.
 *
 * @module
 */
import { PYTHON_STDLIB } from '../load/python-stdlib.ts';
import { readAskedRequest, type AskedRequest } from '../policy/asked-request.ts';
import type { CapabilityEvent } from '../outcome.ts';

export interface ObservedRequest extends AskedRequest {
  denied: boolean;
}

export interface ObservedFile {
  /** The path as the skill sees it. */
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
  /** Secrets with the hosts they were sent to. */
  secrets: { name: string; host: string }[];
  processes: ObservedName[];
  /** Skills that it called. */
  skills: ObservedName[];
  /** Python modules outside the standard library. */
  modules: string[];
  /** Acts that cannot be declared, as the event describes them. */
  other: string[];
}

export function readEvents(used: CapabilityEvent[], denied: CapabilityEvent[]): Observed {
  const observed: Observed = {
    requests: [],
    files: [],
    env: [],
    secrets: [],
    processes: [],
    skills: [],
    modules: [],
    other: [],
  };
  for (const event of used) addEvent(observed, event, false);
  for (const event of denied) addEvent(observed, event, true);
  return observed;
}

function addEvent(observed: Observed, { capability, asked }: CapabilityEvent, denied: boolean): void {
  const [verb, what] = splitOnce(asked, ' ');
  const request = capability === 'network' ? readAskedRequest(asked) : undefined;
  if (request) observed.requests.push({ ...request, denied });
  else if (capability === 'filesystem' && (verb === 'read' || verb === 'write'))
    observed.files.push({ path: what, access: verb, denied });
  else if (capability === 'env') observed.env.push({ name: what, denied });
  else if (capability === 'secret') observed.secrets.push(readSecret(what));
  else if (capability === 'process') observed.processes.push({ name: what, denied });
  else if (capability === 'skill' && verb === 'call' && what.includes('/'))
    observed.skills.push({ name: what, denied });
  else if (capability === 'module') addModule(observed.modules, what);
  else observed.other.push(asked);
}

/** Skips the standard library, which every skill may use. */
function addModule(modules: string[], name: string): void {
  const isOwn = name.startsWith('_') || PYTHON_STDLIB.has(name);
  if (!isOwn && !modules.includes(name)) modules.push(name);
}

function readSecret(what: string): { name: string; host: string } {
  const [name, host] = splitOnce(what, ' to ');
  return { name, host };
}

function splitOnce(text: string, separator: string): [string, string] {
  const at = text.indexOf(separator);
  return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + separator.length)];
}
