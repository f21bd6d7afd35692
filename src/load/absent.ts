/**
 * Tells "nothing at this path" from "the machine failed while looking".
 *
 * @module
 */
import { SkillError } from '../errors.ts';

/** Errors that say nothing about the path: a resource ran out, or the disk failed. */
const MACHINE_FAULTS: ReadonlySet<string> = new Set(['EMFILE', 'ENFILE', 'ENOMEM', 'EIO']);

/** Throws unless the error means that nothing exists at the path. A failed lookup does not prove that a skill is absent. */
export function assertAbsent(cause: unknown, path: string): void {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
  if (!MACHINE_FAULTS.has(code)) return;
  throw new SkillError('internal', `Cannot look for skills in ${JSON.stringify(path)}: ${code}`, {
    fix: 'Free memory, raise the limit of open files (ulimit -n) or repair the disk, then try again.',
    detail: { path, errno: code },
    cause,
  });
}
