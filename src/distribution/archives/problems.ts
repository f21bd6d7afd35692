/**
 * The error for an archive that is damaged, hostile or too large.
 *
 * @module
 */
import { SkillError } from '../../errors.ts';
import { quote } from '../../manifest/quote.ts';

export interface RefusalOptions {
  /** The entry of the archive that is the reason. */
  path?: string;
  cause?: unknown;
}

/** `what` names the archive in the message, such as `The archive "demo.zip"`. */
export function archiveRefused(what: string, reason: string, options: RefusalOptions = {}): SkillError {
  const { path, cause } = options;
  const place = path === undefined ? '' : ` at ${quote(path)}`;
  return new SkillError('manifest_invalid', `${what} is refused${place}: ${reason}.`, {
    fix: 'Ask its publisher for an archive that has only regular files and folders with plain names, within the size limits of a skill.',
    detail: { archive: what, reason, ...(path === undefined ? {} : { file: path }) },
    cause,
  });
}
