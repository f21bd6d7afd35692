/**
 * Bytecode of a skill's sources, compiled in the cell that inspected them. It is no more trusted than the source
 * it came from: only cells of the same skill ever see it.
 *
 * @module
 */
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { LaunchSpec } from '../contract.ts';
import { makeReadable } from '../readable.ts';

/** The staged folder is named by its digest, the harness by its content: the same pair gives the same. */
export function inspectionKey(stagedDir: string, spec: LaunchSpec): string {
  const harness = spec.mounts.find((mount) => mount.guest === '/harness')?.host ?? '';
  return `${basename(stagedDir)}-${basename(harness)}`;
}

/** Folder to mount at /bytecode, if the inspection left one. */
export function bytecodeFolder(home: string, key: string): string | undefined {
  const folder = join(home, 'bytecode', key);
  return existsSync(folder) ? folder : undefined;
}

export interface BytecodeOptions {
  home: string;
  key: string;
  /** Base64 of the marshalled code, by source file. */
  bytecode: Record<string, string>;
  /** The files that were asked for; names come from here and never from the guest. */
  sources: string[];
}

export function storeBytecode({ home, key, bytecode, sources }: BytecodeOptions): void {
  const target = join(home, 'bytecode', key);
  if (existsSync(target)) return;
  const draft = `${target}.${randomBytes(6).toString('hex')}`;
  mkdirSync(draft, { recursive: true });
  for (const name of sources) {
    const code = bytecode[name];
    if (code === undefined) continue;
    const file = join(draft, 'skill', name);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, Buffer.from(code, 'base64'));
  }
  makeReadable(draft);
  try {
    renameSync(draft, target);
  } catch (error) {
    // Another process was faster with the same content.
    rmSync(draft, { recursive: true, force: true });
    if (!existsSync(target)) throw error;
  }
}
