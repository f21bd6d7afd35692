/**
 * Control groups for users without root: systemd delegates a scope on request.
 *
 * @module
 */
import { accessSync, constants, existsSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { makeParent } from './directories.ts';
import { membersOf } from './members.ts';

/** Command prefix that runs a command in its own control group. */
const DELEGATING_COMMAND = 'systemd-run --user --scope -p Delegate=yes';

/** The scope names of `systemd-run --scope`, and the names of our unit. Other groups, such as a terminal's, must not be changed. */
const OWN_GROUP = /^(?:run-.+\.scope|skillcell(?:[@-].+)?\.service)$/;
const LEAF = 'skillcell-host';

/** The fix for a missing writable control group, as part of a sentence. */
export function cgroupFix(hasUserManager: boolean = userManagerRuns()): string {
  return hasUserManager
    ? `put \`${DELEGATING_COMMAND}\` in front of the command, which gives it a control group`
    : 'run Skillcell as root, or have an administrator delegate a control group (cgroup v2, memory and pids) to this user';
}

/** Whether a systemd user manager runs for this user. */
function userManagerRuns(): boolean {
  const folder = process.env['XDG_RUNTIME_DIR'] ?? `/run/user/${process.getuid?.() ?? 0}`;
  return existsSync('/run/systemd/system') && existsSync(join(folder, 'systemd', 'private'));
}

/** Whether this group was created for this command, so that we may change it. */
export function isOwnScope(directory: string): boolean {
  if (!OWN_GROUP.test(basename(directory))) return false;
  return ['cgroup.procs', 'cgroup.subtree_control'].every((name) => isWritable(join(directory, name)));
}

/** Moves the processes of a group into a child group, because a group with processes cannot delegate controllers. */
export function moveToLeaf(directory: string): boolean {
  const leaf = join(directory, LEAF);
  try {
    makeParent(leaf);
    for (const pid of membersOf(directory)) writeFileSync(join(leaf, 'cgroup.procs'), String(pid));
    return true;
  } catch {
    // The caller tries to delegate again and reports the kernel's error.
    return false;
  }
}

function isWritable(file: string): boolean {
  try {
    accessSync(file, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}
