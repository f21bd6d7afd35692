/**
 * `skillcell prune`
 *
 * @module
 */
import { type Pruned, formatSize } from '../../inside.ts';
import { openRuntime } from '../open-runtime.ts';
import { printLine, printNote, printResult, table } from '../output.ts';

export interface PruneFlags {
  dryRun?: boolean;
  all?: boolean;
  json?: boolean;
}

export async function prune({ dryRun = false, all = false, json = false }: PruneFlags): Promise<number> {
  await using runtime = openRuntime({ needsPolicy: false });
  const pruned = await runtime.prune({ dryRun, ...(all ? { unusedMs: 0 } : {}) });
  if (json) {
    printResult({ ...pruned, dry_run: dryRun });
    return 0;
  }
  if (pruned.removed.length > 0) printLine(table(summary(pruned)));
  printLine(
    `${dryRun ? 'Would remove' : 'Removed'} ${pruned.removed.length} entries: ${megabytes(pruned.bytes)}`,
  );
  if (pruned.users > 0)
    printNote(`${pruned.users} running process(es) use this home, so caches that they may use were kept.`);
  return 0;
}

/** One row for each kind of entry. */
function summary({ removed }: Pruned): string[][] {
  const kinds = [...new Set(removed.map(({ what }) => what))];
  return kinds.map((kind) => {
    const entries = removed.filter(({ what }) => what === kind);
    return [kind, String(entries.length), megabytes(entries.reduce((sum, { bytes }) => sum + bytes, 0))];
  });
}

function megabytes(bytes: number): string {
  return bytes < 1e6 ? formatSize(bytes) : `${(bytes / 1e6).toFixed(1)} MB`;
}
