/**
 * The backends of the wall `container`. They differ in which program starts a container, not in what a cell gets.
 *
 * @module
 */
import type { Wall, WallProbe } from '../../contract.ts';

export const BACKENDS = ['crun', 'runc', 'podman', 'docker', 'runsc'] as const;

export type BackendName = (typeof BACKENDS)[number];

export interface ContainerBackend extends Wall {
  readonly name: 'container';
  readonly backendName: BackendName;
  probe(): Promise<WallProbe>;
}

export interface ContainerWallOptions {
  /**
   * Allowed backends, preferred one first. Default: those in SKILLCELL_CONTAINER_RUNTIMES, otherwise all, fastest first,
   * and runsc only for skills that demand it.
   */
  makes?: readonly BackendName[];
  /** uid and gid of cells if the host runs as root. */
  cellId?: number;
  /** `false` disables cgroups even if they are available. */
  cgroups?: boolean;
  /** Folders to search for OCI runtimes; default: the system's program folders. */
  places?: readonly string[];
  /** Socket of docker; default: `/var/run/docker.sock`. */
  dockerSocket?: string;
  /** Global podman options, before the command, such as its storage location. */
  podmanOptions?: readonly string[];
}
