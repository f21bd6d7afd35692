/**
 * How an ordinary user gets control groups: from systemd, which hands over a scope when asked to.
 *
 * @module
 */
import { accessSync, constants, existsSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { makeParent, membersOf } from './directories.ts';

/** What goes in front of a command to have it run in a control group of its own. */
export const DELEGATING_COMMAND = 'systemd-run --user --scope -p Delegate=yes';

/** As `systemd-run --scope` names what it makes. Scopes of others, such as that of a terminal, are left alone. */
const SCOPE_OF_A_COMMAND = /^run-.+\.scope$/;
const LEAF = 'skillcell-host';

/** What to do where there is no writable control group, as a sentence of a fix. */
export function wayToGroups(hasUserManager: boolean = userManagerRuns()): string {
  return hasUserManager
    ? `put \`${DELEGATING_COMMAND}\` in front of the command, which gives it a control group`
    : 'run Skillcell as root, or have an administrator delegate a control group (cgroup v2, memory and pids) to this user';
}

/** Whether systemd looks after this user. */
function userManagerRuns(): boolean {
  const folder = process.env['XDG_RUNTIME_DIR'] ?? `/run/user/${process.getuid?.() ?? 0}`;
  return existsSync('/run/systemd/system') && existsSync(join(folder, 'systemd', 'private'));
}

/** Whether this group was made for this command and may be changed by us. */
export function isScopeOfOurs(directory: string): boolean {
  if (!SCOPE_OF_A_COMMAND.test(basename(directory))) return false;
  return ['cgroup.procs', 'cgroup.subtree_control'].every((name) => isWritable(join(directory, name)));
}

/** Moves the processes of a group into one below it: only a group without any hands its controllers down. */
export function stepDown(directory: string): boolean {
  const leaf = join(directory, LEAF);
  try {
    makeParent(leaf);
    for (const pid of membersOf(directory)) writeFileSync(join(leaf, 'cgroup.procs'), String(pid));
    return true;
  } catch {
    // Whoever asks tries once more to hand controllers down, and reports what the kernel says then.
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
