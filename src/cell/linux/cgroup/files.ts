/**
 * The small files of control groups.
 *
 * @module
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';

export function write(file: string, value: string | number): void {
  writeFileSync(file, String(value));
}

/** For settings that not every kernel has. */
export function writeIfPresent(file: string, value: string | number): void {
  if (existsSync(file)) write(file, value);
}

export function readText(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}

/** Reads a file with one number; undefined if it is missing. */
export function readNumber(file: string): number | undefined {
  const text = readText(file)?.trim();
  return text === undefined || !/^\d+$/.test(text) ? undefined : Number(text);
}

/** Reads a `key number` line of a file; undefined if it is missing. */
export function readField(file: string, key: string): number | undefined {
  return fieldOf(readText(file), key);
}

/** The same of its text. */
export function fieldOf(text: string | undefined, key: string): number | undefined {
  const line = text?.split('\n').find((one) => one.startsWith(`${key} `));
  return line === undefined ? undefined : Number(line.slice(key.length + 1));
}
