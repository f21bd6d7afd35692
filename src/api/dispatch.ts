/**
 * `skillcell/dispatch`: schedules calls of many tenants, with limits, fair queues and immediate rejection if a queue is full.
 *
 * @module
 */
export { Dispatcher } from '../dispatch/dispatcher.ts';
export type { DispatchEntry, DispatchLoad, LaneLoad, Turn } from '../dispatch/dispatcher.ts';
export type { DispatchOptions, LaneLimits, Rate } from '../dispatch/limits.ts';
