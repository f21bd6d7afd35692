/**
 * The engine `node`: JavaScript and TypeScript as they are, for code that needs what Node has. In a jail each call gets a
 * process of its own; without a wall the skill is a part of the host.
 *
 * @module
 */
import type { Bundle } from '../../load/bundle.ts';
import type { EnforcementTable } from '../../policy/enforcement.ts';
import { hasGateway, type Grant } from '../../policy/grant.ts';
import type { Artifact, CellReport, Engine, Job } from '../contract.ts';
import { BASE_ENV } from '../jail/arguments.ts';
import { GATEWAY_ENV, PROXY_PORT } from '../native-cell.ts';
import { stageGuestCode } from '../node/guest-code.ts';
import { heapLimitBehind } from '../node/heap-limit.ts';
import { findNode } from '../node/node-binary.ts';
import { markInUse } from '../node/staged-folders.ts';

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
    // It comes with the package.
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

function callInit({ entry, manifest }: Bundle, grant: Grant): Record<string, unknown> {
  const paths = (access: string): string[] =>
    grant.filesystem.filter((path) => path.access === access).map((path) => path.guest);
  return {
    entry,
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
