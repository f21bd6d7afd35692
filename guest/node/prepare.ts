/**
 * Everything that has to be in place in a Node cell before code of a skill runs.
 *
 * @module
 */
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { Reporter, watchPermissions } from './denials.ts';
import { watchEnv } from './env-watch.ts';
import { guardNetwork } from './network.ts';
import { useSynchronousStreams } from './streams.ts';
import type { StartFields, View } from '../protocol.ts';

export interface CellInit extends Pick<StartFields, 'env'> {
  view: View;
  proxy_port: number;
}

export function prepareCell({ view, env, proxy_port: proxyPort }: CellInit): Reporter {
  const reporter = new Reporter(view);
  useSynchronousStreams();
  Object.assign(process.env, env);
  // Starts Node's own threads now, before processes of the skill can use up the limit.
  if (view.processes) fs.stat('/skill', () => undefined);
  watchPermissions(reporter);
  guardNetwork({ proxyPort, forChildren: view.processes, reporter });
  watchEnv(view.env, reporter);
  patchExistsSync();
  syncBuiltinESMExports();
  return reporter;
}

/** existsSync returns false for paths that are not readable, instead of throwing. */
function patchExistsSync(): void {
  const { existsSync } = fs;
  fs.existsSync = (path) => {
    try {
      return existsSync(path);
    } catch {
      return false;
    }
  };
}
