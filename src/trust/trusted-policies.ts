/**
 * Records the policy files that a person trusts. Bound to the path and to every byte of the file and of the files that it
 * names: after any change it must be trusted again.
 *
 * @module
 */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Everything that a person trusts along with a policy. */
export interface PolicyBytes {
  /** Its real path. */
  file: string;
  text: string;
  /** Digests by path of the files that it names: trusted roots decide whose signatures are accepted. */
  named?: Readonly<Record<string, string>>;
}

export class TrustedPolicies {
  readonly #folder: string;

  constructor(home: string) {
    this.#folder = TrustedPolicies.folderIn(home);
  }

  /** Changes whenever a file is trusted. */
  static folderIn(home: string): string {
    return join(home, 'policies');
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
