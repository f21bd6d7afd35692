/**
 * What an installation is doing, for people who wait for it.
 *
 * @module
 */

const INSTALL_STEPS = ['resolve', 'download', 'unpack', 'link'] as const;
/** One step of an installation. */
export type InstallStep = (typeof INSTALL_STEPS)[number];

/** What an installation is doing now. */
export interface InstallProgress {
  step: InstallStep;
  /** The engine or tool that the packages are for, such as `python-wasm` or `npm`. */
  engine: string;
  /** The package or file, or how many there are. */
  what: string;
  /** Bytes of a download so far; absent if unknown. */
  bytes?: number | undefined;
  /** Bytes of the whole download, as the tool rounds them; absent if unknown. */
  totalBytes?: number | undefined;
}

/** How an installation reports and ends. */
export interface InstallWatch {
  onInstall?: ((progress: InstallProgress) => void) | undefined;
  /** Aborting it ends the installation and removes what is unfinished. */
  signal?: AbortSignal | undefined;
}

/** How to install packages. */
export interface InstallHow extends InstallWatch {
  /** Resolves the requirements again instead of installing what the lock pins or what is there. */
  upgrades?: boolean | undefined;
  /** The skill's own lock may be changed afterwards, so targets that it does not pin yet are resolved. */
  mayPin?: boolean | undefined;
}
