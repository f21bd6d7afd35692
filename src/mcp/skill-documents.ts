/**
 * What the Skills extension serves of each skill: how to use it, as a SKILL.md, and nothing that could be run. Its code
 * runs in a cell, by the tool; a client that got the files could run them beside it.
 *
 * @module
 */
import {
  skillEntry,
  type Skill as Document,
  type SkillSource,
} from '@modelcontextprotocol/server/ext/skills';
import type { CatalogEntry, Entries } from './catalog.ts';
import { visibleText } from './visible.ts';

const PAGE_SIZE = 100;
const MAX_NAME = 64;
/** Agent Skills allow no more. */
const MAX_DESCRIPTION = 1024;

interface Served {
  document: Document;
  text: string;
}

/** By the address of the SKILL.md, in the order of the skills. */
type Documents = ReadonlyMap<string, Served>;

export function skillDocuments(entries: () => Promise<Entries>): SkillSource {
  // As long as the skills stay the same, so do their documents.
  const made = new WeakMap<Entries, Promise<Documents>>();
  const documents = async (): Promise<Documents> => {
    const current = await entries();
    const known = made.get(current) ?? makeDocuments(current);
    made.set(current, known);
    return known;
  };
  return {
    list: async ({ cursor = '0' }) => {
      const all = [...(await documents()).values()].map(({ document }) => document);
      const start = Math.max(0, Math.trunc(Number(cursor)) || 0);
      const end = start + PAGE_SIZE;
      const rest = end < all.length ? { nextCursor: String(end) } : {};
      return { skills: all.slice(start, end), ...rest };
    },
    get: async (uri) => (await documents()).get(uri)?.document,
    read: async (uri) => {
      const served = (await documents()).get(uri);
      return served && { text: served.text, mimeType: 'text/markdown' };
    },
    listResources: async () => {
      const all = [...(await documents()).values()];
      return all.map(({ document: { uri, frontmatter } }) => ({
        uri,
        name: frontmatter.name,
        description: frontmatter.description,
        mimeType: 'text/markdown',
      }));
    },
  };
}

async function makeDocuments(entries: Entries): Promise<Documents> {
  const names = new Set<string>();
  const made = [...entries.values()].map(async (entry) => {
    const name = freeName(entry.tool.name, names);
    const text = skillMd(name, entry);
    const document = await skillEntry(name, { 'SKILL.md': text });
    return [document.uri, { document, text }] as const;
  });
  return new Map(await Promise.all(made));
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
  return ['---', ...frontmatter, '---', '', use, '', visibleText(instructions?.trim() ?? ''), ''].join('\n');
}

/** Lower case letters, digits and single hyphens, as Agent Skills have them; each name once. */
function freeName(toolName: string, taken: Set<string>): string {
  const base = toolName
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '');
  for (let count = 1; ; count++) {
    const suffix = count === 1 ? '' : `-${count}`;
    const name = base.slice(0, MAX_NAME - suffix.length).replace(/-$/, '') + suffix;
    if (taken.has(name)) continue;
    taken.add(name);
    return name;
  }
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim().slice(0, MAX_DESCRIPTION);
}
