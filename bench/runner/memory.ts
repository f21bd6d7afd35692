/**
 * The memory of a waiting cell (Pss), including bubblewrap's own process.
 *
 * @module
 */
import { cellProcesses, readProc } from './cell-processes.ts';

/** Bytes per cell; undefined if /proc does not show it. */
export function meanCellBytes(): number | undefined {
  const cells = cellProcesses();
  const shares = cells.flat().map(pssBytes);
  const known = shares.filter((bytes) => bytes !== undefined);
  if (cells.length === 0 || known.length < shares.length) return undefined;
  return known.reduce((sum, bytes) => sum + bytes, 0) / cells.length;
}

/** Bytes of all cells together; undefined if /proc does not show them. A process that exits meanwhile counts for nothing. */
export function memoryOfCells(): { cells: number; bytes: number | undefined } {
  const cells = cellProcesses();
  const known = cells
    .flat()
    .map(pssBytes)
    .filter((bytes) => bytes !== undefined);
  const bytes = known.length === 0 ? undefined : known.reduce((sum, one) => sum + one, 0);
  return { cells: cells.length, bytes };
}

function pssBytes(pid: number): number | undefined {
  const kilobytes = /^Pss:\s+(\d+) kB/m.exec(readProc(pid, 'smaps_rollup'))?.[1];
  return kilobytes === undefined ? undefined : Number(kilobytes) * 1024;
}
