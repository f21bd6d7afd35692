/**
 * The engine `python`: the system's CPython runs the unmodified skill with our harness.
 *
 * @module
 */
import type { PythonInit } from '../../../../guest/protocol.ts';
import type { Bundle } from '../../../load/bundle.ts';
import type { EnforcementTable } from '../../../policy/enforcement.ts';
import { hasGateway, type Grant } from '../../../policy/grant.ts';
import type { Artifact, Engine, LaunchSpec, Zygote } from '../../contract.ts';
import { BASE_ENV } from '../../native-env.ts';
import { lockdownFilter, seccompArch } from '../../linux/seccomp/policy.ts';
import type { ForkingWall } from './forking-wall.ts';
import { GATEWAY_ENV, PROXY_PORT } from '../../native-env.ts';
import { bytecodeFolder, inspectionKey } from './bytecode.ts';
import { stageHarness } from './harness.ts';
import { harnessInit } from './harness-init.ts';
import type { Interpreter } from './interpreter.ts';
import { assertAsInstalled, environmentFor, nativeBytes } from './requirements.ts';
import { SystemPythonEngine, type SystemPythonOptions } from './system-python.ts';
import { PythonZygote } from './zygote.ts';

const MIB = 1024 * 1024;
/** Address space for the interpreter and system libraries; measured: 15 MiB at the start, 31 MiB with many modules. */
const CODE_BYTES = 64 * MIB;
const ADDRESS_SPACE = `RLIMIT_AS and RLIMIT_DATA: the limit, plus ${CODE_BYTES / MIB} MiB and the native code of packages; page tables by watchdog`;

export interface PythonEngineOptions extends SystemPythonOptions {
  wall: ForkingWall;
}

export class PythonEngine extends SystemPythonEngine<PythonEngineOptions> implements Engine {
  readonly name = 'python';

  enforces(wall: EnforcementTable): EnforcementTable {
    // Python reserves little memory that it does not use, so without a cgroup its address space can be limited instead.
    const isOpen = wall.filesystem.by === 'kernel' && wall.memory.by === 'nobody';
    return isOpen ? { ...wall, memory: { by: 'kernel', how: ADDRESS_SPACE } } : wall;
  }

  refuses(bundle: Bundle): string | undefined {
    return bundle.entry.endsWith('.py') ? undefined : `the engine python cannot run "${bundle.entry}"`;
  }

  fixedEnv(grant: Grant): Readonly<Record<string, string>> {
    return { ...BASE_ENV, PWD: '/skill', ...(hasGateway(grant) ? GATEWAY_ENV : {}) };
  }

  describe(): string {
    return this.describePython();
  }

  async prepare(bundle: Bundle): Promise<Artifact> {
    const { home } = this.options;
    const interpreter = this.interpreter();
    const environment = environmentFor({ home, interpreter, bundle });
    const uses = environment && (await assertAsInstalled(environment, { bundle, engine: this.name }));
    const spec = pythonSpec(home, interpreter);
    spec.mounts.push({ host: bundle.stagedDir, guest: '/skill' });
    if (environment) {
      spec.mounts.push({ host: environment, guest: '/deps' });
      spec.codeBytes = CODE_BYTES + nativeBytes(environment);
    }
    const bytecode = bytecodeFolder(home, inspectionKey(bundle.stagedDir, spec));
    if (bytecode) spec.mounts.push({ host: bytecode, guest: '/bytecode' });
    return {
      engine: 'python',
      bundle,
      ...(uses ? { uses } : {}),
      spec: (grant) => ({ ...spec, reservedThreads: harnessThreads(grant) }),
      init: (grant) => pythonCallInit(bundle, grant),
    };
  }

  openZygote(artifact: Artifact, grant: Grant): Zygote | undefined {
    // RLIMIT_NPROC is counted per user namespace, which the forks of one zygote share.
    if (grant.limits.processes > 0 || !this.options.wall.limitsForks) return undefined;
    return new PythonZygote({ ...this.options, artifact, grant });
  }
}

/** Runs the harness in the system Python without site, user paths and PYTHON* variables, and writes no bytecode. */
export function pythonSpec(home: string, interpreter: Interpreter): LaunchSpec {
  return {
    argv: [interpreter.path, '-I', '-S', '-B', '/harness/main.py'],
    mounts: [...interpreter.mounts, { host: stageHarness(home, interpreter), guest: '/harness' }],
    env: {},
    cwd: '/skill',
    lowPriority: true,
    codeBytes: CODE_BYTES,
  };
}

/** Threads of the harness: one forwards connections to the gateway. */
export function harnessThreads(grant: Grant): number {
  return hasGateway(grant) ? 1 : 0;
}

/** The first frame of a call, the same behind every wall. */
export function pythonCallInit(bundle: Bundle, grant: Grant): PythonInit {
  const exec = grant.limits.processes > 0;
  return {
    ...harnessInit(bundle, grant),
    proxy_port: hasGateway(grant) ? PROXY_PORT : 0,
    lockdown: lockdownFilter({ arch: seccompArch(), exec, sockets: hasGateway(grant) }).toString('hex'),
  };
}
