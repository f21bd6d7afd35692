/**
 * Policy files that a person looked at and trusts. Bound to the place and to every byte: whoever changes one has to be
 * trusted again.
 *
 * @module
 */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export class TrustedPolicies {
  readonly #folder: string;

  constructor(home: string) {
    this.#folder = join(home, 'policies');
  }

  has(file: string, text: string): boolean {
    return existsSync(this.#markFor(file, text));
  }

  add(file: string, text: string): void {
    mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
    writeFileSync(this.#markFor(file, text), `${file}\n`, { mode: 0o600 });
  }

  #markFor(file: string, text: string): string {
    return join(
      this.#folder,
      createHash('sha256')
        .update(JSON.stringify([file, text]))
        .digest('hex'),
    );
  }
}
