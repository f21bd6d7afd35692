/**
 * Why a component cannot be linked: it wants what the host does not have, or does not fit together.
 *
 * @module
 */

export class LinkError extends Error {
  /** What was imported, when that is the cause: the interface as the component names it, and the function in it. */
  readonly interface: string | undefined;
  readonly function: string | undefined;

  constructor(message: string, missing?: { interface: string; function?: string | undefined }) {
    super(message);
    this.name = 'LinkError';
    this.interface = missing?.interface;
    this.function = missing?.function;
  }
}
