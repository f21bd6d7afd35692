/** Modules that a skill can import in addition to its own files. For editors and `tsc`; not used at run time. */

declare module 'skillcell:fs' {
  export interface DirectoryEntry {
    name: string;
    type: 'file' | 'directory' | 'other';
  }

  export interface FileFacts {
    type: DirectoryEntry['type'];
    size: number;
    /** Milliseconds since 1970. */
    modified: number;
  }

  /** Relative paths start at the bundle. */
  export function readFile(path: string): Promise<Uint8Array>;
  export function readFile(path: string, encoding: 'utf8'): Promise<string>;
  /** Sorted by name. */
  export function readDir(path: string): Promise<DirectoryEntry[]>;
  export function stat(path: string): Promise<FileFacts>;
}

declare module 'skillcell:env' {
  export const env: Record<string, string | undefined>;
  /** Throws if the variable has no value. */
  export function requireEnv(name: string): string;
}
