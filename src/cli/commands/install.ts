/**
 * `skillcell install` and `skillcell uninstall`
 *
 * @module
 */
import { type Installation, formatSize, printableLine, shellWord } from '../../inside.ts';
import { interruption } from '../interruption.ts';
import { LiveInstall } from '../live-install.ts';
import { openRuntime } from '../open-runtime.ts';
import { printLine, printNote, printResult, printWarning } from '../output.ts';

export interface InstallFlags {
  replace?: boolean;
  global?: boolean;
  frozen?: boolean;
  upgrade?: boolean;
  json?: boolean;
}

export async function install(ref: string, flags: InstallFlags = {}): Promise<number> {
  const { json = false, ...options } = flags;
  await using runtime = openRuntime({ needsPolicy: false });
  using live = new LiveInstall();
  const { onInstall } = live;
  const { bundle, installation } = await runtime.install(ref, {
    ...options,
    onInstall,
    signal: interruption(),
  });
  live[Symbol.dispose]();
  const { manifest, digest, origin } = bundle;
  const { name, version } = manifest;
  if (json) {
    const { elapsed } = live;
    printResult({
      ok: true,
      name,
      version,
      digest,
      origin,
      ...installation,
      elapsed,
      warnings: bundle.warnings,
    });
    return 0;
  }
  for (const warning of bundle.warnings) printWarning(warning);
  for (const line of describePackages(installation, live)) printLine(line);
  for (const change of installation.changes) printLine(`skill.lock: ${printableLine(change)}`);
  const place = installation.copied ? `(${digest})` : `in its own folder (${digest})`;
  printLine(`Installed ${printableLine(`${name} ${version}`)} ${place}`);
  printNote(`Run it: skillcell run ${shellWord(ref)}`);
  return 0;
}

/** `Installed 12 packages in 3.1s (python-3.13-linux-x64)` for each engine that has packages of its own. */
function describePackages({ packages }: Installation, { hasWorked, elapsed }: LiveInstall): string[] {
  const targets = Object.entries(packages);
  if (targets.length === 0) return [];
  const counts = targets.map(([target, pins]) => `${count(pins.packages.length)} (${target})`).join(' and ');
  return [hasWorked ? `Installed ${counts} in ${elapsed}` : `Already installed: ${counts}`];
}

function count(packages: number): string {
  return packages === 1 ? '1 package' : `${packages} packages`;
}

export async function uninstall(ref: string, flags: { json?: boolean } = {}): Promise<number> {
  await using runtime = openRuntime({ needsPolicy: false });
  const removed = runtime.uninstall(ref);
  const approvals = runtime.approvals.ofSkill(removed.skill).length;
  if (flags.json) {
    printResult({ ok: true, ...removed, approvals });
    return 0;
  }
  const version = removed.version === undefined ? '' : ` ${removed.version}`;
  printLine(`Uninstalled ${printableLine(`${removed.skill}${version}`)}: ${formatSize(removed.bytes)}`);
  printNote('Its packages stay until you run `skillcell prune`.');
  if (approvals > 0)
    printNote(`Its approvals stay too. To revoke them, run: skillcell approve --revoke ${removed.skill}`);
  return 0;
}
