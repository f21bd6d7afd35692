/**
 * The digest of a policy, by which operators compare what several instances enforce.
 *
 * @module
 */
import type { OperatorPolicy } from '../policy/operator.ts';
import { digestJson } from './canonical-json.ts';

/** Without the places of its files, which differ between machines. */
export function policyDigest({ file: _file, files: _files, ...content }: OperatorPolicy): string {
  return digestJson(content);
}
