/**
 * Follows a link in the workspace to a file of the host.
 *
 * capabilities: { filesystem: [{ path: '${workspace}', access: read }] }
 */
import { readFile } from 'skillcell:fs';

export async function execute(params) {
  const text = await readFile('/workspace/link', 'utf8');
  return { succeeded: text.includes(params.marker), evidence: text };
}
