/**
 * What the Skills extension serves of each skill: how to use it, as a SKILL.md, and nothing that could be run. Its code
 * runs in a cell, by the tool; a client that got the files could run them beside it.
 *
 * @module
 */
import type { CatalogEntry, Entries } from './catalog.ts';

const MAX_NAME = 64;
/** Agent Skills allow no more. */
const MAX_DESCRIPTION = 1024;

/** Files by their path: one folder for each skill. */
export function skillFiles(entries: Entries): Record<string, string> {
  const files: Record<string, string> = {};
  for (const entry of entries.values()) {
    const name = freeName(entry.tool.name, (taken) => `${taken}/SKILL.md` in files);
    files[`${name}/SKILL.md`] = skillMd(name, entry);
  }
  return files;
}

/** Written anew: `allowed-tools` and whatever else a stranger put into the frontmatter of his own is left behind. */
function skillMd(name: string, { tool, skill }: CatalogEntry): string {
  const { manifest, digest, instructions } = skill.bundle;
  // JSON is YAML: quotes and line breaks of a description cannot end its line.
  const frontmatter = [
    `name: ${name}`,
    `description: ${JSON.stringify(oneLine(tool.description ?? manifest.name))}`,
    'metadata:',
    `  skillcell-tool: ${JSON.stringify(tool.name)}`,
    `  skillcell-skill: ${JSON.stringify(manifest.name)}`,
    `  skillcell-version: ${JSON.stringify(manifest.version)}`,
    `  skillcell-digest: ${JSON.stringify(digest)}`,
  ];
  const use = `Call the tool \`${tool.name}\` of this server. It runs in a cell that can do only what a person granted.`;
  return ['---', ...frontmatter, '---', '', use, '', instructions?.trim() ?? '', ''].join('\n');
}

/** Lower case letters, digits and single hyphens, as Agent Skills have them. */
function freeName(toolName: string, isTaken: (name: string) => boolean): string {
  const base = toolName
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '');
  for (let count = 1; ; count++) {
    const suffix = count === 1 ? '' : `-${count}`;
    const name = base.slice(0, MAX_NAME - suffix.length).replace(/-$/, '') + suffix;
    if (!isTaken(name)) return name;
  }
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim().slice(0, MAX_DESCRIPTION);
}
