/**
 * The oldest Node that runs Skillcell. Loads nothing, because every command starts here.
 *
 * @module
 */
export const OLDEST_NODE = 24;

/** @returns {boolean} whether the current Node can run Skillcell */
export function runsHere() {
  return majorOf(process.versions.node) >= OLDEST_NODE;
}

export function majorOf(version) {
  return Number(version.split('.')[0]);
}
