/**
 * The makes of the wall `container`: what starts a container here. They differ in who is asked, not in what a cell gets.
 *
 * @module
 */
import type { Wall, WallProbe } from '../contract.ts';

export const MAKES = ['crun', 'runc', 'podman', 'docker', 'runsc'] as const;

export type MakeName = (typeof MAKES)[number];

export interface ContainerMake extends Wall {
  readonly name: 'container';
  readonly make: MakeName;
  probe(): Promise<WallProbe>;
}

export interface ContainerWallOptions {
  /**
   * Which makes may be used, the preferred one first. Absent: what SKILLCELL_CONTAINER_RUNTIMES says, else all, the fastest
   * first, and runsc only for a skill that demands it.
   */
  makes?: readonly MakeName[];
  /** uid and gid that a root host gives to cells. */
  cellId?: number;
  /** `false` forgoes cgroups even where they can be had. */
  cgroups?: boolean;
  /** Folders in which OCI runtimes are looked for; absent: those of the system. */
  places?: readonly string[];
  /** Where docker listens; absent: where it usually does. */
  dockerSocket?: string;
  /** Before the command of podman, such as where it keeps its things. */
  podmanOptions?: readonly string[];
}
