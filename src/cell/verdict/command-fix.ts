/**
 * The fix for denied acts of a command. An Agent Skills folder has no manifest to change: a person gives more with options
 * for one call, or with an overlay for good. Never more than the act; nothing where only more would do.
 *
 * @module
 */
import { isIP } from 'node:net';
import { join } from 'node:path';
import { envNameProblem } from '../../manifest/names.ts';
import { filesystemPathProblem, hostProblem } from '../../manifest/places.ts';
import { shellWord } from '../../manifest/quote.ts';
import type { CapabilityEvent } from '../../outcome.ts';
import { readAskedRequest, usualPort } from '../../policy/asked-request.ts';
import { allowInPolicy, policyChange } from '../../policy/edits.ts';
import { GUEST_WORKSPACE, readDeclaredPath } from '../../policy/guest-paths.ts';
import type { OperatorPolicy } from '../../policy/operator.ts';
import { hostCovers } from '../../policy/patterns.ts';

export interface DeniedCommand {
  denied: readonly CapabilityEvent[];
  /** Folder or id of the skill, as the caller named it. */
  skill: string;
  words: readonly string[];
  workspace?: string | undefined;
  policy: OperatorPolicy;
  isPublicAddress: (address: string) => boolean;
}

/** What allows one act: options of `exec` and `record`, and other steps that are needed. */
interface Allowing {
  once: string;
  recorded: string;
  first?: string;
}

/** Descriptions are cut at the end. */
const CUT = /(?:\.\.\.|…)$/;

/** Undefined if no option would help. */
export function fixForCommand(call: DeniedCommand): string | undefined {
  const found = call.denied.flatMap((denial) => allowing(denial, call));
  if (found.length === 0) return undefined;
  const unique = (texts: (string | undefined)[]): string[] => [
    ...new Set(texts.filter((text) => text !== undefined)),
  ];
  const first = unique(found.map((one) => one.first));
  const once = unique(found.map((one) => one.once)).join(' ');
  return [
    'If the script needs this:',
    ...first,
    `For one call, add ${once} before "--".`,
    `For good, run \`${recordCommand(call, unique(found.map((one) => one.recorded)))}\`, then \`skillcell approve ${shellWord(call.skill)}\`.`,
  ].join(' ');
}

function recordCommand({ skill, words, workspace }: DeniedCommand, options: readonly string[]): string {
  const given = workspace === undefined ? [] : ['--workspace', shellWord(workspace)];
  return [
    ...['skillcell', 'record', shellWord(skill), ...given, ...options, '--write', '--'],
    ...words.map(shellWord),
  ].join(' ');
}

function allowing(denial: CapabilityEvent, call: DeniedCommand): Allowing[] {
  const at = denial.asked.indexOf(' ');
  const [verb, what] = [denial.asked.slice(0, at), denial.asked.slice(at + 1)];
  // Backquotes would end the command that the fix shows.
  if (CUT.test(what) || /[`\p{Cc}]/u.test(what + call.words.join(''))) return [];
  if (denial.capability === 'filesystem') return verb === 'write' ? toWrite(what, call) : [];
  if (denial.capability === 'network') return toRequest(denial, call);
  if (denial.capability === 'env') return toReadVariable(what);
  if (denial.capability === 'process' && verb === 'start')
    return [{ once: '--processes 2', recorded: '--allow-processes 2' }];
  return [];
}

function toWrite(guest: string, { workspace }: DeniedCommand): Allowing[] {
  if (!guest.startsWith(`${GUEST_WORKSPACE}/`)) return isGrantable(guest) ? writing(guest, guest) : [];
  if (workspace === undefined) return [];
  const inside = guest.slice(GUEST_WORKSPACE.length + 1);
  return writing(inside, join(workspace, inside));
}

/** Both commands take a path of the workspace; a shell takes `place`. */
function writing(path: string, place: string): Allowing[] {
  return [
    {
      once: `--write ${shellWord(path)}`,
      recorded: `--allow-write ${shellWord(path)}`,
      first: `Create ${shellWord(place)} if it does not exist.`,
    },
  ];
}

/** Outside the folders that a cell has for itself. */
function isGrantable(path: string): boolean {
  if (filesystemPathProblem(path) !== undefined) return false;
  try {
    return readDeclaredPath({ path, access: 'read-write' }).kind === 'absolute';
  } catch {
    return false;
  }
}

function toRequest({ asked, declared }: CapabilityEvent, call: DeniedCommand): Allowing[] {
  const request = readAskedRequest(asked);
  // A bare connection does not say what it is for.
  const isGuess = /^(?:connect|resolve) /.test(asked) && request?.port !== 443;
  const isFinal = /through the proxy alone|unix sockets|another request than/.test(declared);
  if (!request || isGuess || isFinal || hostProblem(request.host) !== undefined) return [];
  const { host, port, scheme } = request;
  if (scheme !== 'http' && scheme !== 'https') return [];
  const name = isIP(host) === 6 ? `[${host}]` : host;
  const isUsual = port === usualPort(scheme);
  const once = `--host ${shellWord(`${scheme === 'http' ? 'http://' : ''}${name}${isUsual ? '' : `:${port}`}`)}`;
  const edits = policyEdits(host, call);
  return [
    {
      once,
      recorded: '--allow-network',
      ...(edits.length === 0 ? {} : { first: policyChange(call.policy, edits) }),
    },
  ];
}

function policyEdits(host: string, { policy, isPublicAddress }: DeniedCommand): string[] {
  const { allow, allowPrivate = [] } = policy.network;
  const isPrivate = isIP(host) !== 0 && !isPublicAddress(host) && !allowPrivate.includes(host);
  return [
    ...(allow && !allow.some((pattern) => hostCovers(pattern, host))
      ? [allowInPolicy(policy, 'network.allow', { before: allow, added: host })]
      : []),
    ...(isPrivate
      ? [allowInPolicy(policy, 'network.allow_private', { before: allowPrivate, added: host })]
      : []),
  ];
}

function toReadVariable(name: string): Allowing[] {
  if (envNameProblem(name) !== undefined) return [];
  return [
    {
      once: `--env ${name}`,
      recorded: `--allow-env ${name}`,
      first: `Set ${name} in the environment.`,
    },
  ];
}
