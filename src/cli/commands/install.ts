/**
 * `skillcell install` and `skillcell uninstall`
 *
 * @module
 */
import { basename } from 'node:path';
import {
  type Installation,
  type PackageNeed,
  type Runtime,
  formatSize,
  printableLine,
  shellWord,
} from '../../inside.ts';
import { interruption } from '../interruption.ts';
import { LiveInstall } from '../live-install.ts';
import { openRuntime } from '../open-runtime.ts';
import { printLine, printNote, printResult, printWarning, table } from '../output.ts';
import { confirmed } from '../person.ts';

export interface InstallFlags {
  replace?: boolean;
  global?: boolean;
  frozen?: boolean;
  upgrade?: boolean;
  yes?: boolean;
  json?: boolean;
}

export async function install(ref: string, flags: InstallFlags = {}): Promise<number> {
  const { json = false, yes = false, ...options } = flags;
  await using runtime = openRuntime({ needsPolicy: false });
  if (!json) await printProposal(runtime, ref);
  using live = new LiveInstall();
  const { onInstall } = live;
  const { bundle, installation } = await runtime.install(ref, {
    ...options,
    acceptPackages: (needs) => acceptPackages(needs, yes),
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
  const { overlay } = installation;
  const pinned = overlay === undefined ? 'skill.lock' : basename(overlay);
  for (const change of installation.changes) printLine(`${pinned}: ${printableLine(change)}`);
  if (overlay !== undefined) printNote(`Its packages are pinned in ${printableLine(overlay)}`);
  const place = installation.copied ? `(${digest})` : `in its own folder (${digest})`;
  printLine(`Installed ${printableLine(`${name} ${version}`)} ${place}`);
  const how = bundle.kind === 'script' ? `exec ${shellWord(ref)} -- COMMAND…` : `run ${shellWord(ref)}`;
  printNote(`Run it: skillcell ${how}`);
  return 0;
}

/** What would be installed and why, before anything is. */
async function printProposal(runtime: Runtime, ref: string): Promise<void> {
  const { needs, npm, skipped } = await runtime.overlays.packages(await runtime.load(ref));
  const rows = needs.map(({ requirement, why, at }) => [
    requirement,
    why === 'overlay' ? `named by ${at}` : `${why} in ${at}`,
  ]);
  for (const { name, spec, at } of npm) rows.push([`${name}@${spec}`, `declared in ${at}`]);
  if (rows.length > 0) printNote(table(rows.map((row) => row.map(printableLine))));
  for (const { text, at, reason } of skipped)
    printWarning(`${at} is left out: ${text === at ? reason : `${JSON.stringify(text)}: ${reason}`}`);
}

/** Without a terminal there is no one to ask; the error then lists the packages. */
async function acceptPackages(needs: readonly PackageNeed[], yes: boolean): Promise<boolean> {
  if (yes) return true;
  const open = needs.filter(({ why }) => why !== 'declared').map(({ requirement }) => requirement);
  const source = needs.some(({ why }) => why === 'overlay')
    ? 'An overlay of this project names them'
    : 'The names are guessed from imports';
  return (await confirmed(`Install ${open.join(', ')}? ${source}. [y/N] `)) === true;
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
