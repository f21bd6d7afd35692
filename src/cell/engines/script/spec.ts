/**
 * The launch specs of commands: the harness in Python, which runs a script or starts a program, and Node.
 *
 * @module
 */
import { existsSync } from 'node:fs';
import { hasGateway, type Grant } from '../../../policy/grant.ts';
import type { LaunchSpec, Mount } from '../../contract.ts';
import { commandEnv, GUEST_PACKAGES, workingFolder } from '../../native-env.ts';
import { stageGuestCode } from '../node-process/guest-code.ts';
import { findNode } from '../node-process/node-binary.ts';
import { markInUse } from '../node-process/staged-folders.ts';
import { skillSpec } from '../node/spec.ts';
import { pythonSpec } from '../python/engine.ts';
import type { Interpreter } from '../python/interpreter.ts';
import { GUEST_NPM } from './npm-packages.ts';
import { nativeBytes } from '../python/requirements.ts';

/** Folders of /etc that programs of Debian need: names of programs such as awk, fonts, and the office suite's own settings. */
const SYSTEM_SETTINGS = ['/etc/alternatives', '/etc/fonts', '/etc/libreoffice'];

export interface ScriptParts {
  home: string;
  interpreter: Interpreter;
  /** Verified copy of the bundle. */
  bundle: string;
  /** Folder of the installed packages. */
  packages: string | undefined;
  /** Folder of the installed npm packages. */
  npm: string | undefined;
}

export function pythonScriptSpec(parts: ScriptParts, grant: Grant, runner: 'python' | 'program'): LaunchSpec {
  const { home, interpreter } = parts;
  const spec = pythonSpec(home, interpreter);
  const isProgram = runner === 'program';
  const { codeBytes = 0, ...unlimited } = spec;
  // Programs of the system reserve more address space than they use.
  const code = isProgram ? {} : { codeBytes: codeBytes + (parts.packages ? nativeBytes(parts.packages) : 0) };
  return {
    ...unlimited,
    ...code,
    mounts: [...spec.mounts, ...sharedMounts(parts), ...nodeMount(home)],
    env: commandEnv(grant, parts.packages),
    cwd: workingFolder(grant),
    // The harness stays beside a program that it started, and forwards connections in a thread.
    reservedThreads: (isProgram ? 1 : 0) + (hasGateway(grant) ? 1 : 0),
  };
}

export function nodeScriptSpec(parts: ScriptParts, grant: Grant): LaunchSpec {
  const code = stageGuestCode(parts.home, 'node');
  markInUse(code);
  const spec = skillSpec({ node: findNode(parts.home), code, bundle: parts.bundle }, grant);
  const argv = spec.argv.map((word) => (word === '/harness/node/main.js' ? '/harness/node/script.js' : word));
  return {
    ...spec,
    argv: [
      ...argv.slice(0, 1),
      `--allow-fs-read=${GUEST_NPM}`,
      `--allow-fs-read=${GUEST_NPM}/*`,
      ...argv.slice(1),
    ],
    mounts: [...spec.mounts, ...npmMount(parts)],
    env: commandEnv(grant, parts.packages),
    cwd: workingFolder(grant),
  };
}

function npmMount({ npm }: Pick<ScriptParts, 'npm'>): Mount[] {
  return npm === undefined ? [] : [{ host: npm, guest: GUEST_NPM }];
}

function sharedMounts({ bundle, packages, npm }: ScriptParts): Mount[] {
  return [
    { host: bundle, guest: '/skill' },
    ...(packages === undefined ? [] : [{ host: packages, guest: GUEST_PACKAGES }]),
    ...npmMount({ npm }),
    ...SYSTEM_SETTINGS.filter((folder) => existsSync(folder)).map((folder) => ({
      host: folder,
      guest: folder,
    })),
  ];
}

/** Shell scripts start node by its name. */
function nodeMount(home: string): Mount[] {
  return [{ host: findNode(home).path, guest: '/node/node' }];
}
