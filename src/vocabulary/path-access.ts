/**
 * What a skill may do with a granted path.
 *
 * @module
 */

export const PATH_ACCESS = ['read', 'read-write'] as const;

export type PathAccess = (typeof PATH_ACCESS)[number];
