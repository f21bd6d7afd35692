/**
 * Policy files that a person looked at and trusts. Bound to the place and to every byte of the file and of those that it
 * names: a change has to be trusted again.
 *
 * @module
 */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** All that a person trusts with a policy. */
export interface PolicyBytes {
  /** Its real path. */
  file: string;
  text: string;
  /** Digests of the files that it names, by their paths: trusted roots decide whose signatures count. */
  named?: Readonly<Record<string, string>>;
}

export class TrustedPolicies {
  readonly #folder: string;

  constructor(home: string) {
    this.#folder = join(home, 'policies');
  }

  has(policy: PolicyBytes): boolean {
    return existsSync(this.#markFor(policy));
  }

  add(policy: PolicyBytes): void {
    mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
    writeFileSync(this.#markFor(policy), `${policy.file}\n`, { mode: 0o600 });
  }

  #markFor({ file, text, named = {} }: PolicyBytes): string {
    const others = Object.keys(named)
      .toSorted()
      .map((path) => [path, named[path]]);
    const bound = others.length > 0 ? [file, text, others] : [file, text];
    return join(this.#folder, createHash('sha256').update(JSON.stringify(bound)).digest('hex'));
  }
}
