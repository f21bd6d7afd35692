/**
 * How dangerous something that a skill asks for is, highest first: lists for people are sorted in this order.
 *
 * @module
 */

export const RISKS = ['high', 'medium', 'low'] as const;

export type Risk = (typeof RISKS)[number];
