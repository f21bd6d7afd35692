/**
 * The schemes of requests that a skill can be granted.
 *
 * @module
 */

export const SCHEMES = ['http', 'https', 'ws', 'wss'] as const;

export type Scheme = (typeof SCHEMES)[number];
