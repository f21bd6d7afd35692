/**
 * Uses of files, variables and processes are reported from inside the cell, where a skill can invent them. What was not
 * allowed cannot have happened, so such a report must not become a permission.
 *
 * @module
 */
import { isHarmlessEnv } from '../load/drift.ts';
import { quote } from '../manifest/quote.ts';
import { GUEST_WORKSPACE } from '../policy/guest-paths.ts';
import { wasPossible } from './least-filesystem.ts';
import type { AllowedRules } from './least.ts';
import type { Observed } from './observed.ts';

export interface Believable {
  observed: Observed;
  /** What the skill claimed, as text for a person. Reading the workspace is not in it: a command may do that. */
  invented: string[];
}

/** Expects requests and secrets from the gateway, which no skill can invent. */
export function believable(reported: Observed, { filesystem, env, processes }: AllowedRules): Believable {
  const files = reported.files.filter((file) => file.denied || wasPossible(file, filesystem));
  const variables = reported.env.filter(
    ({ name, denied }) => denied || Object.hasOwn(env, name) || isHarmlessEnv(name),
  );
  const started = reported.processes.filter(({ denied }) => denied || processes > 0);
  const invented = [
    ...reported.files
      .filter((file) => !files.includes(file) && !isReadOfWorkspace(file))
      .map(({ access, path }) => `${access} ${quote(path)}`),
    ...reported.env.filter((one) => !variables.includes(one)).map(({ name }) => `read ${quote(name)}`),
    ...reported.processes.filter((one) => !started.includes(one)).map(({ name }) => `start ${quote(name)}`),
  ];
  return { observed: { ...reported, files, env: variables, processes: started }, invented };
}

function isReadOfWorkspace({ access, path }: Observed['files'][number]): boolean {
  return access === 'read' && (path === GUEST_WORKSPACE || path.startsWith(`${GUEST_WORKSPACE}/`));
}
