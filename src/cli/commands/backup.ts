/**
 * `skillcell backup` and `skillcell restore`
 *
 * @module
 */
import { resolve } from 'node:path';
import { backupHome, defaultHome, restoreHome } from '../../inside.ts';
import { printLine, printResult } from '../output.ts';

export interface BackupFlags {
  tokens?: boolean;
  json?: boolean;
}

export async function backup(folder: string, flags: BackupFlags): Promise<number> {
  const checked = await backupHome(resolve(folder), { home: defaultHome(), tokens: flags.tokens });
  if (flags.json) printResult(checked);
  else
    printLine(
      `Backed up to ${folder}: ${checked.count} receipts, ${checked.ok ? 'chain intact' : `chain broken: ${checked.reason}`}, head ${checked.head}`,
    );
  return checked.ok ? 0 : 1;
}

export async function restore(folder: string, flags: { json?: boolean }): Promise<number> {
  const checked = restoreHome(resolve(folder), defaultHome());
  if (flags.json) printResult(checked);
  else
    printLine(`Restored to ${defaultHome()}: ${checked.count} receipts, chain intact, head ${checked.head}`);
  return 0;
}
