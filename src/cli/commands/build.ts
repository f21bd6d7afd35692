/**
 * `skillcell build`
 *
 * @module
 */
import { buildSkill, formatSize } from '../../index.ts';
import { printLine, printNote } from '../output.ts';

export function build(ref: string): Promise<number> {
  const { language, file, bytes, digest } = buildSkill(ref);
  printLine(`Built ${file} from ${language}: ${formatSize(bytes)}, ${digest}`);
  printNote('A lock that was written before no longer fits; write it anew with `skillcell lock`.');
  return Promise.resolve(0);
}
