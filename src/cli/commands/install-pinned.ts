/**
 * `skillcell install --frozen` without the name of a skill.
 *
 * @module
 */
import { SkillError, installFrozen, openSources, printableLine } from '../../inside.ts';
import { interruption } from '../interruption.ts';
import { LiveTransfer } from '../live-transfer.ts';
import { openRuntime } from '../open-runtime.ts';
import { printLine, printNote, printResult } from '../output.ts';
import type { InstallFlags } from './install.ts';

export async function installPinned({ frozen, global, json }: InstallFlags): Promise<number> {
  if (!frozen)
    throw new SkillError('usage', 'No skill was named', {
      fix: 'Name one, or install everything that skills.lock.json pins: skillcell install --frozen',
    });
  await using runtime = openRuntime();
  using live = new LiveTransfer();
  const { home, sources } = runtime;
  const { cwd } = sources;
  const skills = await installFrozen({
    runtime,
    place: { home, cwd, global },
    open: openSources({ cwd }),
    watch: { onProgress: live.onProgress, signal: interruption() },
  });
  live.clear();
  const fetched = skills.filter(({ cached }) => !cached);
  if (json) {
    const rows = skills.map(({ id, pin, cached }) => ({
      ...{ name: id, version: pin.version, digest: pin.digest, source: pin.source, cached },
    }));
    printResult({ ok: true, skills: rows });
    return 0;
  }
  for (const { id, pin } of fetched)
    printLine(printableLine(`Fetched ${id} ${pin.version} (${pin.digest}) from ${pin.source}`));
  if (skills.length === 0) printNote('skills.lock.json pins no skills here.');
  else
    printLine(
      `${skills.length} skills are as pinned, ${skills.length - fetched.length} of them were here already.`,
    );
  return 0;
}
