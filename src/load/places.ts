/**
 * The places where a runtime looks for skills.
 *
 * @module
 */
import { join } from 'node:path';
import { packageRoot } from '../package-root.ts';
import { FolderDigests } from './folder-digests.ts';
import type { SkillPlaces } from './locate.ts';

export function placesOf(home: string, cwd: string): SkillPlaces {
  return { bundledDir: join(packageRoot(), 'skills'), home, cwd, digestOf: new FolderDigests().digestOf };
}
