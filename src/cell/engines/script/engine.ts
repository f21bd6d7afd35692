/**
 * The engine `script`: commands of an Agent Skills folder. Python runs inside the harness and Node with our preparation, so
 * that denials can be explained; shells and other programs are started by the harness. The result is made by the host from
 * the exit status and the output.
 *
 * @module
 */
import type { ScriptInit } from '../../../../guest/protocol.ts';
import { SkillError } from '../../../errors.ts';
import type { Bundle } from '../../../load/bundle.ts';
import { sha256 } from '../../../load/digest.ts';
import type { Command } from '../../../policy/commands/command.ts';
import { usualRunner } from '../../../policy/commands/defaults.ts';
import type { EnforcementTable } from '../../../policy/enforcement.ts';
import { hasGateway, type Grant } from '../../../policy/grant.ts';
import type { Runner } from '../../../vocabulary/commands.ts';
import type { Artifact, Engine } from '../../contract.ts';
import { lockdownFilter, seccompArch } from '../../linux/seccomp/policy.ts';
import { BASE_ENV, GATEWAY_ENV, PROXY_PORT, workingFolder } from '../../native-env.ts';
import { heapLimitBehind } from '../node-process/heap-limit.ts';
import { assertModule } from '../python/command-module.ts';
import { harnessInit } from '../python/harness-init.ts';
import { assertAsInstalled, environmentFor } from '../python/requirements.ts';
import { SystemPythonEngine, type SystemPythonOptions } from '../python/system-python.ts';
import { npmPackagesFor } from './npm-packages.ts';
import { nodeScriptSpec, pythonScriptSpec, type ScriptParts } from './spec.ts';

/** What enforces `capabilities.programs` for commands. */
export const PROGRAMS_BY_HOST = {
  by: 'broker',
  how: 'the host starts only programs that the grant names, inside the cell',
} as const;

export class ScriptEngine extends SystemPythonEngine<SystemPythonOptions> implements Engine {
  readonly name = 'script';

  enforces(wall: EnforcementTable): EnforcementTable {
    return { ...wall, programs: PROGRAMS_BY_HOST };
  }

  refuses({ kind }: Bundle): string | undefined {
    return kind === 'script' ? undefined : 'the engine script runs only Agent Skills folders with scripts';
  }

  fixedEnv(grant: Grant): Readonly<Record<string, string>> {
    return { ...BASE_ENV, PWD: workingFolder(grant), ...(hasGateway(grant) ? GATEWAY_ENV : {}) };
  }

  describe(): string {
    return `${this.describePython()}, shells, Node ${process.version}`;
  }

  async prepare(bundle: Bundle, command?: Command): Promise<Artifact> {
    const { home } = this.options;
    const interpreter = this.interpreter();
    const runner = command?.runner ?? usualRunner(bundle);
    const packages = packagesOf({ home, interpreter, bundle });
    assertModule(command, bundle, packages);
    const uses =
      packages === undefined ? undefined : await assertAsInstalled(packages, { bundle, engine: 'python' });
    const npm = runner === 'python' ? undefined : npmPackagesFor({ home, bundle });
    const usedNpm = npm && (await assertAsInstalled(npm.folder, { bundle, engine: 'node' }));
    const parts: ScriptParts = {
      ...{ home, interpreter, bundle: bundle.stagedDir, packages },
      npm: npm?.folder,
    };
    return {
      engine: 'script',
      bundle,
      ...(uses || usedNpm ? { uses: usedPackages(uses, usedNpm) } : {}),
      // Cells of one runner cannot serve the calls of another.
      settings: { runner },
      isCommand: true,
      spec: (grant) =>
        runner === 'node' ? nodeScriptSpec(parts, grant) : pythonScriptSpec(parts, grant, runner),
      init: (grant) => scriptInit(bundle, grant, runner),
      ...(runner === 'node' ? { limitBehind: heapLimitBehind } : {}),
    };
  }
}

interface Used {
  packages: string;
}

/** One digest for a call that uses both kinds. */
function usedPackages(python: Used | undefined, npm: Used | undefined): Used {
  if (!python || !npm) return { packages: (python ?? npm)?.packages ?? '' };
  return { packages: `sha256:${sha256(`${python.packages}\n${npm.packages}`)}` };
}

/** Without a declared requirement, a script may still run: most need no packages. */
export function packagesOf(options: Parameters<typeof environmentFor>[0]): string | undefined {
  try {
    return environmentFor(options);
  } catch (error) {
    const isOptional = options.bundle.manifest.requirements.length === 0;
    if (isOptional && error instanceof SkillError && error.code === 'skill_unavailable') return undefined;
    throw error;
  }
}

export function scriptInit(bundle: Bundle, grant: Grant, runner: Runner): ScriptInit {
  const exec = runner !== 'python' || grant.limits.processes > 0;
  const sockets = hasGateway(grant);
  return {
    task: 'script',
    view: harnessInit(bundle, grant).view,
    proxy_port: sockets ? PROXY_PORT : 0,
    lockdown: lockdownFilter({ arch: seccompArch(), exec, sockets }).toString('hex'),
  };
}
