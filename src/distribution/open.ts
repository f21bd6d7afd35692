/**
 * Finds the source of a reference.
 *
 * @module
 */
import { SkillError } from '../errors.ts';
import { quote } from '../manifest/quote.ts';
import {
  SOURCE_KIND_NAMES,
  SOURCE_KINDS,
  sourceKindOf,
  type SourceKind,
} from '../vocabulary/source-kinds.ts';
import type { OpenSource, Source } from './contract.ts';
import { HttpClient } from './http/client.ts';
import { OciSource } from './oci/source.ts';

export interface OpenOptions {
  /** What relative paths are relative to. */
  cwd: string;
}

/** Sources share one client, and each is made once. */
export function openSources(_options: OpenOptions): OpenSource {
  const http = new HttpClient();
  const made = new Map<SourceKind, Source>();
  return (text) => {
    const kind = sourceKindOf(text);
    const source = kind && (made.get(kind) ?? make(kind, http));
    if (kind === undefined || !source) throw unknown(text);
    made.set(kind, source);
    return source;
  };
}

function make(kind: SourceKind, http: HttpClient): Source | undefined {
  return kind === 'oci' ? new OciSource({ http }) : undefined;
}

function unknown(text: string): SkillError {
  const prefixes = SOURCE_KIND_NAMES.map((kind) => SOURCE_KINDS[kind].prefix).join(', ');
  return new SkillError('usage', `${quote(text)} does not name a source`, {
    fix: `Start it with one of ${prefixes}; for a folder, write file:./FOLDER.`,
    detail: { source: text },
  });
}
