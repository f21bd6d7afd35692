/**
 * The size of parameters that a program of an image can get as a variable or a file.
 *
 * @module
 */
import { SkillError } from '../../../errors.ts';
import { paramsFile, paramsVariable } from '../../../manifest/container.ts';
import type { ContainerRule } from '../../../manifest/manifest.ts';
import { formatSize } from '../../../manifest/units.ts';

/** The kernel's limit for one string of an environment, with its name and its end. */
const MAX_STRING_BYTES = 128 * 1024;
/** "=", the end of the string, and the line end that the launcher removes. */
const EXTRA_BYTES = 3;

export interface ParamsRoom {
  params: ContainerRule['params'];
  scratch: number;
}

export function assertParamsFit(bytes: number, { params, scratch }: ParamsRoom): void {
  const name = paramsVariable(params);
  if (name !== undefined && bytes > MAX_STRING_BYTES - name.length - EXTRA_BYTES) {
    const limit = `${MAX_STRING_BYTES - name.length - EXTRA_BYTES} bytes fit into the variable ${name}`;
    throw tooLarge(bytes, limit, 'container: { params: "file:/tmp/params.json" }');
  }
  if (paramsFile(params) !== undefined && bytes >= scratch) {
    const limit = `/tmp of the container has ${formatSize(scratch)} (limits.scratch)`;
    throw tooLarge(bytes, limit, 'container: { params: stdin }');
  }
}

function tooLarge(bytes: number, limit: string, other: string): SkillError {
  return new SkillError('invalid_params', `The parameters are ${bytes} bytes, but only ${limit}`, {
    fix: `Pass less, put large data into a file of the workspace, or have the author declare ${other} if the image supports it.`,
    detail: { bytes },
  });
}
