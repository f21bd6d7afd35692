/**
 * A skill as clients see it: one tool.
 *
 * @module
 */
import type { Tool } from '@modelcontextprotocol/server';
import { printable, type JsonSchema, type Skill } from '../index.ts';
import { hintsFor, type Hints } from './annotations.ts';

/** A description goes into the context of every conversation. */
const MAX_DESCRIPTION = 4096;

export interface SkillTool extends Tool {
  annotations: Hints;
}

export function toolFor({ bundle }: Skill): SkillTool {
  const { manifest, digest, origin } = bundle;
  const { outputs } = manifest;
  return {
    name: toolName(manifest.name),
    title: titleOf(manifest.name),
    description: describe(manifest.description),
    inputSchema: objectSchema(manifest.parameters),
    ...(Object.keys(outputs).length === 0 ? {} : { outputSchema: objectSchema({ properties: outputs }) }),
    annotations: hintsFor(manifest),
    _meta: { 'skillcell/skill': manifest.name, 'skillcell/digest': digest, 'skillcell/origin': origin },
  };
}

/** `category/name` in the characters that tools may have. */
export function toolName(name: string): string {
  return name.replace('/', '_');
}

/** `text/word_stats` as `Word stats`. */
function titleOf(name: string): string {
  const words = name.slice(name.indexOf('/') + 1).replaceAll(/[_-]+/g, ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}

function describe(description: string): string {
  const text = printable(description.trim());
  return text.length > MAX_DESCRIPTION ? `${text.slice(0, MAX_DESCRIPTION)}…` : text;
}

/** Clients want an object at the root, and objects below its properties: one `true` there and they refuse all tools. */
function objectSchema(schema: JsonSchema): Tool['inputSchema'] {
  const { properties } = schema;
  if (typeof properties !== 'object' || properties === null) return { ...schema, type: 'object' };
  const plain = Object.entries(properties).map(([key, value]) => [key, withoutBoolean(value)] as const);
  return { ...schema, type: 'object', properties: Object.fromEntries(plain) } as Tool['inputSchema'];
}

function withoutBoolean(schema: unknown): object {
  if (typeof schema === 'object' && schema !== null) return schema;
  return schema === false ? { not: {} } : {};
}
