/**
 * The start in two steps of engines whose process reads its skill from one folder, `/artifact`.
 *
 * @module
 */
import { join } from 'node:path';
import type { Grant } from '../../../policy/grant.ts';
import type { LaunchSpec, UnboundStart } from '../../contract.ts';
import { linkTree } from '../../linux/link-tree.ts';

const ARTIFACT = 'artifact';

export function unboundStart(
  start: (grant: Grant, artifact: string, option: 'rehearse') => LaunchSpec,
  folder: string,
): UnboundStart {
  return {
    spec: (grant, place) => start(grant, join(place, ARTIFACT), 'rehearse'),
    fill: (_, place) => linkTree(folder, join(place, ARTIFACT)),
  };
}
