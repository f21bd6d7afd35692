/**
 * The engine `node`: unmodified JavaScript and TypeScript, for code that needs Node's own modules. In a jail, each call
 * gets its own process; without a wall, the skill runs inside the host process.
 *
 * @module
 */
import type { NodeInit } from '../../../../guest/protocol.ts';
import type { Bundle } from '../../../load/bundle.ts';
import type { EnforcementTable } from '../../../policy/enforcement.ts';
import { hasGateway, type Grant } from '../../../policy/grant.ts';
import type { Artifact, CellReport, Engine, Job } from '../../contract.ts';
import { BASE_ENV } from '../../native-env.ts';
import { GATEWAY_ENV, PROXY_PORT } from '../../native-env.ts';
import { stageGuestCode } from '../node-process/guest-code.ts';
import { heapLimitBehind } from '../node-process/heap-limit.ts';
import { findNode } from '../node-process/node-binary.ts';
import { markInUse } from '../node-process/staged-folders.ts';

import { HostCalls } from './host-calls.ts';
import { skillSpec } from './spec.ts';

const SCRIPT = /\.m?[jt]s$/;
export interface NodeSkillEngineOptions {
  home: string;
}

export class NodeSkillEngine implements Engine {
  readonly name = 'node';
  readonly reusable = false;
  readonly #home: string;
  readonly #hostCalls: HostCalls;

  constructor({ home }: NodeSkillEngineOptions) {
    this.#home = home;
    this.#hostCalls = new HostCalls({ home });
  }

  enforces(wall: EnforcementTable): EnforcementTable {
    return wall;
  }

  refuses({ entry }: Bundle): string | undefined {
    return SCRIPT.test(entry) ? undefined : `the engine node cannot run "${entry}"`;
  }

  fixedEnv(grant: Grant): Readonly<Record<string, string>> {
    return { ...BASE_ENV, PWD: '/skill', ...(hasGateway(grant) ? GATEWAY_ENV : {}) };
  }

  describe(): string {
    return `Node ${process.version}`;
  }

  missing(): undefined {
    // Node comes with the package.
    return undefined;
  }

  async prepare(bundle: Bundle): Promise<Artifact> {
    const parts = {
      node: findNode(this.#home),
      code: stageGuestCode(this.#home, 'node'),
      bundle: bundle.stagedDir,
    };
    return {
      engine: 'node',
      bundle,
      spec: (grant) => {
        markInUse(parts.code);
        return skillSpec(parts, grant);
      },
      init: (grant) => callInit(bundle, grant),
      limitBehind: heapLimitBehind,
    };
  }

  callInHost(artifact: Artifact, grant: Grant, job: Job): Promise<CellReport> {
    return this.#hostCalls.call(artifact.bundle, grant, job);
  }

  close(): void {
    this.#hostCalls.close();
  }
}

function callInit({ entry, manifest, origin }: Bundle, grant: Grant): NodeInit {
  const paths = (access: string): string[] =>
    grant.filesystem.filter((path) => path.access === access).map((path) => path.guest);
  return {
    entry,
    ...(grant.skills ? { skills: true } : {}),
    ...(origin === 'generated' ? { program: true } : {}),
    view: {
      read: paths('read'),
      write: paths('read-write'),
      processes: grant.limits.processes > 0,
      env: Object.keys(manifest.env),
      observe: grant.observe !== undefined,
    },
    proxy_port: hasGateway(grant) ? PROXY_PORT : 0,
  };
}
