/**
 * A skill as an MCP tool.
 *
 * @module
 */
import type { Tool } from '@modelcontextprotocol/server';
import { ToolSet, type Skill } from '../inside.ts';
import { hintsFor, type Hints } from './annotations.ts';
import { visibleSchema } from './visible.ts';

export interface SkillTool extends Tool {
  annotations: Hints;
}

export function toolFor(skill: Skill): SkillTool {
  const { manifest, digest, origin } = skill.bundle;
  const [tool] = new ToolSet([skill], 'mcp').tools;
  if (!tool) throw new TypeError('A tool set of one skill must have one tool');
  return {
    ...visibleSchema(tool as Tool),
    title: titleOf(manifest.name),
    annotations: hintsFor(manifest),
    _meta: { 'skillcell/skill': manifest.name, 'skillcell/digest': digest, 'skillcell/origin': origin },
  };
}

/** `text/word_stats` as `Word stats`. */
function titleOf(name: string): string {
  const words = name.slice(name.indexOf('/') + 1).replaceAll(/[_-]+/g, ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}
