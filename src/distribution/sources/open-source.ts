/**
 * Every source by the prefix of a reference.
 *
 * @module
 */
import { SkillError } from '../../errors.ts';
import { quote } from '../../manifest/quote.ts';
import {
  SOURCE_KIND_NAMES,
  SOURCE_KINDS,
  sourceKindOf,
  type SourceKind,
} from '../../vocabulary/source-kinds.ts';
import type { OpenSource, Source, SourceName } from '../contract.ts';

/** A source of each kind, made when it is first needed. */
export type SourceFactories = Readonly<Record<SourceKind, () => Source>>;

export function openSources(factories: SourceFactories): OpenSource {
  const opened = new Map<SourceKind, Source>();
  return (text) => {
    const kind = kindOf(text);
    const source = opened.get(kind) ?? factories[kind]();
    opened.set(kind, source);
    return source;
  };
}

/** Throws `usage` for text that no source knows. */
export function parseSource(text: string, open: OpenSource): SourceName & { kind: SourceKind } {
  const source = open(text);
  return { kind: source.kind, ...source.parse(text) };
}

function kindOf(text: string): SourceKind {
  const kind = sourceKindOf(text);
  if (kind !== undefined) return kind;
  const prefixes = SOURCE_KIND_NAMES.map((name) => `"${SOURCE_KINDS[name].prefix}"`);
  throw new SkillError(
    'usage',
    `${quote(text)} is not a source: it starts with none of ${prefixes.join(', ')}`,
    {
      fix: 'Write where the skill is, such as file:./folder, github:owner/repository@v1.2.0 or npm:name@1.2.0.',
    },
  );
}
