/**
 * The fix for a denied act, derived from why no rule matched it: everything that is missing in one proposal, and never
 * more than the act. Reads no file, because a skill must not learn from a fix what exists on the host.
 *
 * @module
 */
import { envNameProblem } from '../../manifest/names.ts';
import { filesystemPathProblem, WORKSPACE } from '../../manifest/places.ts';
import { quote } from '../../manifest/quote.ts';
import type { FilesystemRule } from '../../manifest/manifest.ts';
import type { CapabilityEvent } from '../../outcome.ts';
import { allowsPath } from '../../policy/allows-path.ts';
import { addTo, setIn } from '../../manifest/edit-sentences.ts';
import { allowInPolicy, policyChange } from '../../policy/edits.ts';
import type { Grant, Withheld } from '../../policy/grant.ts';
import { GUEST_WORKSPACE, readDeclaredPath } from '../../policy/guest-paths.ts';
import { networkFix } from './network-fix.ts';
import { manifestChange, manifestFile, recordAdvice, type Situation } from './situation.ts';

export interface DeniedAct {
  denial: CapabilityEvent;
  grant: Grant;
  situation: Situation;
  /** Set if the act is declared, but was not granted. */
  withheld?: Withheld | undefined;
}

/** Starts of what cannot be a complete path. */
const CUT = /\.\.\.$/;
const BUNDLE = /^\/skill(?=\/|$)/;

export function fixForDenial(act: DeniedAct): string {
  const { denial, withheld, situation } = act;
  const what = denial.asked.replace(/^\S+ /, '');
  const fixes: Record<CapabilityEvent['capability'], () => string> = {
    filesystem: () => filesystemFix(act),
    network: () => networkFix(act),
    env: () => withheld?.fix ?? envFix(what, situation),
    secret: () => secretFix(what, situation),
    process: () => processFix(denial, situation),
    skill: () => skillFix(what, situation),
    module: () => 'Add the package to requirements.',
    syscalls: () => 'Remove the system call from the skill: it is blocked in every cell.',
  };
  return fixes[denial.capability]();
}

function skillFix(name: string, situation: Situation): string {
  const edit = addTo('capabilities.skills', manifestFile(situation), name);
  return `If the skill needs this: ${manifestChange(situation, [edit])}`;
}

function filesystemFix({ denial, situation, withheld }: DeniedAct): string {
  const what = denial.asked.replace(/^\S+ /, '');
  const access: FilesystemRule['access'] = denial.asked.startsWith('read') ? 'read' : 'read-write';
  if (CUT.test(what)) return recordAdvice(situation, '');
  const path = inManifest(what);
  if (!isDeclarable(path)) return undeclarablePath(what, access);
  const steps = [declarePath({ path, access }, situation), ...allowPath(path, situation)].filter(Boolean);
  if (path.startsWith(WORKSPACE) && !situation.hasWorkspace)
    steps.push('Pass --workspace DIR (library: workspace).');
  if (steps.length === 0) return withheld?.fix ?? recordAdvice(situation, '');
  const exists = path === WORKSPACE ? '' : ` The path ${quote(path)} must exist before the call.`;
  const lead = steps[0]?.startsWith('Pass') ? '' : 'If the skill needs this: ';
  return `${lead}${steps.join(' ')}${access === 'read' || lead === '' ? '' : exists}`;
}

/** The path as a manifest names it. */
function inManifest(guest: string): string {
  const isInWorkspace = guest === GUEST_WORKSPACE || guest.startsWith(`${GUEST_WORKSPACE}/`);
  return isInWorkspace ? WORKSPACE + guest.slice(GUEST_WORKSPACE.length) : guest;
}

/** Empty if the manifest declares it already. */
function declarePath(wanted: FilesystemRule, situation: Situation): string {
  const { filesystem } = situation.manifest.capabilities;
  const inner = filesystem
    .filter(({ path }) => wanted.path === path || wanted.path.startsWith(`${path}/`))
    .toSorted((a, b) => b.path.length - a.path.length)[0];
  if (inner && (inner.access === 'read-write' || wanted.access === 'read')) return '';
  const file = manifestFile(situation);
  const same = filesystem.findIndex(({ path }) => path === wanted.path);
  // A path may be declared only once.
  const edit =
    same < 0
      ? addTo(
          'capabilities.filesystem',
          file,
          `{ path: ${JSON.stringify(wanted.path)}, access: ${wanted.access} }`,
        )
      : setIn(`capabilities.filesystem.${same}.access`, file, wanted.access);
  return manifestChange(situation, [edit]);
}

function allowPath(path: string, { policy }: Situation): string[] {
  if (allowsPath(policy, path)) return [];
  const { allow, within = [] } = policy.filesystem;
  // The nearest file would replace the lists of the others, so each of them must allow the path.
  if (within.length > 0)
    return [
      `Have the operator add ${JSON.stringify(path)} to filesystem.allow in each policy: ${(policy.files ?? []).join(', ')}.`,
    ];
  const edit = allowInPolicy(policy, 'filesystem.allow', { before: allow, added: path });
  return [policyChange(policy, [edit])];
}

function isDeclarable(path: string): boolean {
  if (filesystemPathProblem(path) !== undefined) return false;
  try {
    return readDeclaredPath({ path, access: 'read' }).kind !== 'bundle';
  } catch {
    return false;
  }
}

function undeclarablePath(guest: string, access: FilesystemRule['access']): string {
  if (BUNDLE.test(guest) && access === 'read-write') {
    const path = `${GUEST_WORKSPACE}${guest.replace(BUNDLE, '')}`;
    return `Relative paths start in the folder of the skill, which is read-only. Write to ${quote(path)} in the code (${WORKSPACE} in the manifest), or to a file below "/tmp" that may be lost.`;
  }
  return 'This path is private to the sandbox and cannot be granted. Pass what the skill needs as a parameter, or as a file in the workspace.';
}

function envFix(name: string, situation: Situation): string {
  if (envNameProblem(name) !== undefined)
    return `No manifest can declare ${quote(name)}. Read another variable, or pass the value as a parameter.`;
  const edit = setIn(`env_vars.${name}`, manifestFile(situation), '{ required: true }');
  const change = manifestChange(situation, [edit]);
  return `If the skill needs this: ${change} Then set ${name} in the environment and pass --env ${name} (library: allowEnv).`;
}

function secretFix(what: string, situation: Situation): string {
  const [name = '', host = ''] = what.split(' to ');
  const edit = addTo(`env_vars.${name}.hosts`, manifestFile(situation), JSON.stringify(host));
  return `If the secret is meant for that host too: ${manifestChange(situation, [edit])}`;
}

function processFix({ asked }: CapabilityEvent, situation: Situation): string {
  if (!asked.startsWith('start ')) return 'Remove this from the skill: no cell has it.';
  const edit = setIn('limits.processes', manifestFile(situation), '2');
  return `If the skill needs to start programs: ${manifestChange(situation, [edit])} The skill itself counts as one; use a higher number if several programs run at once.`;
}
