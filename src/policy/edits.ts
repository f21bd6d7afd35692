/**
 * Sentences that say how to change a policy.
 *
 * @module
 */
import { flowList, setIn } from '../manifest/edit-sentences.ts';
import { shellWord } from '../manifest/quote.ts';
import { POLICY_FILE } from './find-policy.ts';
import type { OperatorPolicy } from './operator.ts';

/** The file that a person edits to change this policy: the nearest one, or a new one in the working directory. */
export function fileOfPolicy({ file }: Pick<OperatorPolicy, 'file'>): string {
  return file ?? POLICY_FILE;
}

/** Changes of the policy. A file that was found, not named, must be trusted again afterwards. */
export function policyChange(
  policy: Pick<OperatorPolicy, 'file' | 'files'>,
  edits: readonly string[],
): string {
  const isNamed = policy.file !== undefined && policy.files === undefined;
  const trust = `Then run \`skillcell policy trust ${shellWord(fileOfPolicy(policy))}\`.`;
  return [...edits, ...(isNamed ? [] : [trust])].join(' ');
}

/** Adds values to a list of the policy. Shows the whole list, because the nearest file replaces those above it. */
export function allowInPolicy(
  policy: Pick<OperatorPolicy, 'file' | 'files'>,
  key: string,
  { before, added }: { before: readonly string[]; added: string },
): string {
  return setIn(key, fileOfPolicy(policy), flowList([...before, added]));
}
