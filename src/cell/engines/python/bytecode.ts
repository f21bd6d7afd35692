/**
 * Bytecode of a skill's sources, compiled in the cell that inspected them. It is as untrusted as the source itself, so
 * only cells of the same skill get it.
 *
 * @module
 */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { publishSync } from '../../../load/publish.ts';
import type { LaunchSpec } from '../../contract.ts';
import { makeReadable } from '../../linux/readable.ts';

/** The staged folder is named after its digest and the harness after its content, so the pair determines the result. */
export function inspectionKey(stagedDir: string, spec: LaunchSpec): string {
  const harness = spec.mounts.find((mount) => mount.guest === '/harness')?.host ?? '';
  return `${basename(stagedDir)}-${basename(harness)}`;
}

/** Folder to mount at /bytecode, if the inspection wrote one. */
export function bytecodeFolder(home: string, key: string): string | undefined {
  const folder = join(home, 'bytecode', key);
  return existsSync(folder) ? folder : undefined;
}

export interface BytecodeOptions {
  home: string;
  key: string;
  /** Base64 of the marshalled code, by source file. */
  bytecode: Record<string, string>;
  /** The requested files. File names come from here and never from the guest. */
  sources: string[];
}

export function storeBytecode({ home, key, bytecode, sources }: BytecodeOptions): void {
  const target = join(home, 'bytecode', key);
  if (existsSync(target)) return;
  const write = (draft: string): void => {
    mkdirSync(draft, { recursive: true });
    for (const name of sources) {
      const code = bytecode[name];
      if (code === undefined) continue;
      const file = join(draft, 'skill', name);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, Buffer.from(code, 'base64'));
    }
    makeReadable(draft);
  };
  publishSync(target, write, { keepsExisting: true });
}
