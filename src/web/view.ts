/**
 * What a view is: it fills the page, and stops when it is left.
 *
 * @module
 */
import type { Identity } from './types.ts';

export interface ViewContext {
  /** What follows the name of the view in the address. */
  argument: string;
  identity: Identity;
  /** Aborted when another view takes over. */
  signal: AbortSignal;
}

export type View = (page: HTMLElement, context: ViewContext) => Promise<void>;
