/**
 * Bounds uploads that are being received: they are held in memory, and each is inspected in a cell.
 *
 * @module
 */
import { SkillError } from '../errors.ts';

const MAX_AT_ONCE = 4;
const RETRY_MS = 2000;

export class UploadSlots {
  readonly #busy = new Set<string>();

  /** One upload per tenant. Dispose of it when the upload ends. */
  enter(tenant: string): Disposable {
    if (this.#busy.has(tenant) || this.#busy.size >= MAX_AT_ONCE) throw busy();
    this.#busy.add(tenant);
    return { [Symbol.dispose]: () => this.#busy.delete(tenant) };
  }
}

/** The same answer whoever else is uploading. */
function busy(): SkillError {
  return new SkillError('resource_exceeded', 'Too many uploads at the same time', {
    fix: `Try again after ${RETRY_MS} ms.`,
    detail: { limit: 'busy', retry_after_ms: RETRY_MS },
  });
}
