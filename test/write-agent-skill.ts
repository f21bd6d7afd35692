/**
 * Agent Skills folders with scripts, written by the test that runs them.
 *
 * @module
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { dedent } from './write-skill.ts';

let written = 0;

export interface AgentSkillText {
  /** Contents by path, indented as in the test. */
  files: Record<string, string>;
  /** A manifest beside the SKILL.md. */
  manifest?: Record<string, unknown>;
}

/** Writes the folder below `folder` and returns its path. */
export function writeAgentSkill(folder: string, { files, manifest }: AgentSkillText): string {
  const name = `agent-skill-${++written}`;
  const dir = join(folder, 'agent-skills', name);
  const texts = {
    'SKILL.md': `---\nname: ${name}\ndescription: A skill of a test.\n---\n\nRun its scripts.\n`,
    ...(manifest ? { 'manifest.yaml': JSON.stringify({ version: '1.0.0', ...manifest }) } : {}),
    ...Object.fromEntries(Object.entries(files).map(([path, text]) => [path, dedent(text)])),
  };
  for (const [path, text] of Object.entries(texts)) {
    mkdirSync(dirname(join(dir, path)), { recursive: true });
    writeFileSync(join(dir, path), text);
  }
  return dir;
}
