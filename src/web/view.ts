/**
 * A view fills the page, and stops when the user leaves it.
 *
 * @module
 */
import type { Identity } from './types.ts';

export interface ViewContext {
  /** The part of the URL fragment after the name of the view. */
  argument: string;
  /** What follows the question mark in the URL fragment. */
  query: URLSearchParams;
  identity: Identity;
  /** Aborted when another view is opened. */
  signal: AbortSignal;
}

export type View = (page: HTMLElement, context: ViewContext) => Promise<void>;
