/**
 * Why a component cannot be linked: it imports something that the host does not have, or is inconsistent.
 *
 * @module
 */

export class LinkError extends Error {
  /** The import that caused it, if any: the interface as the component names it, and the function in it. */
  readonly interface: string | undefined;
  readonly function: string | undefined;

  constructor(message: string, missing?: { interface: string; function?: string | undefined }) {
    super(message);
    this.name = 'LinkError';
    this.interface = missing?.interface;
    this.function = missing?.function;
  }
}
