/**
 * The cell contract, in containers of one backend.
 *
 * @module
 */
import { afterAll } from 'vitest';
import type { BackendName } from '../../../../src/cell/walls/container/contract.ts';
import { cellContract, type CellUnderTest } from '../../contract.ts';
import { IN_CONTAINER, openContainerRuntime } from './container-runtime.ts';

export interface ContainerUnderTest extends Partial<CellUnderTest> {
  backend: BackendName;
  dockerSocket?: string;
}

export async function containerContract({
  backend,
  dockerSocket,
  ...cell
}: ContainerUnderTest): Promise<void> {
  const start = cell.start ?? 'pool';
  // One skill at a time, so that cells of other tests use no CPU time.
  const pool = start === 'pool' ? { size: 1, maxStandby: 1 } : { size: 0 };
  const { runtime, close } = await openContainerRuntime(backend, {
    pool,
    ...(dockerSocket === undefined ? {} : { container: { dockerSocket } }),
  });
  afterAll(close);
  cellContract(`a container of ${backend}`, {
    start,
    isProcess: true,
    manifest: IN_CONTAINER,
    path: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
    hostFile: '/etc/os-release',
    async execute(dir, params, options) {
      const skill = await runtime.load(dir);
      await runtime.warm(skill, options);
      return runtime.execute(skill, params, { ...options, reject: false });
    },
    ...cell,
  });
}
