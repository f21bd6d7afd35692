/**
 * The cell replaces this module by the source that came with the call.
 *
 * @module
 */

export function execute(): never {
  throw new Error('This cell does not run programs');
}
