/**
 * When each token was last used. In a file next to the access file, so that the service never writes the access file.
 *
 * @module
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { z } from 'zod';
import { publishSync } from '../inside.ts';

const WRITE_MS = 60_000;
const schema = z.record(z.string(), z.iso.datetime());

/** Times by token id; empty if nothing is known. */
export function readTokenUse(accessFile: string): Record<string, string> {
  try {
    return schema.parse(JSON.parse(readFileSync(useFile(accessFile), 'utf8')));
  } catch {
    return {};
  }
}

export class TokenUse {
  readonly #accessFile: string;
  readonly #times = new Map<string, string>();
  #later: NodeJS.Timeout | undefined;

  constructor(accessFile: string) {
    this.#accessFile = accessFile;
  }

  record(id: string): void {
    this.#times.set(id, new Date().toISOString());
    this.#later ??= setTimeout(() => this.write(), WRITE_MS).unref();
  }

  /** A full disk must not end requests, so failures are ignored and the next write tries again. */
  write(): void {
    clearTimeout(this.#later);
    this.#later = undefined;
    if (this.#times.size === 0) return;
    const times = readTokenUse(this.#accessFile);
    for (const [id, at] of this.#times) if ((times[id] ?? '') < at) times[id] = at;
    try {
      const text = `${JSON.stringify(times)}\n`;
      publishSync(useFile(this.#accessFile), (draft) =>
        writeFileSync(draft, text, { mode: 0o600, flag: 'wx' }),
      );
      this.#times.clear();
    } catch {
      // The times stay in memory.
    }
  }
}

function useFile(accessFile: string): string {
  return `${accessFile}.used`;
}
