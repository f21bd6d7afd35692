/**
 * The SKILL.md that the Skills extension serves for each skill: how to use it, but no code. The code runs only in a cell,
 * through the tool; a client that received the files could run them outside.
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
/** The maximum of the Agent Skills format. */
const MAX_DESCRIPTION = 1024;

interface ServedDocument {
  document: Document;
  text: string;
}

/** By URI of the SKILL.md, in the order of the skills. */
type Documents = ReadonlyMap<string, ServedDocument>;

export function skillDocuments(entries: () => Promise<Entries>): SkillSource {
  // The documents change only when the entries do.
  const cache = new WeakMap<Entries, Promise<Documents>>();
  const documents = async (): Promise<Documents> => {
    const current = await entries();
    const known = cache.get(current) ?? makeDocuments(current);
    cache.set(current, known);
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
  const pairs = [...entries.values()].map(async (entry) => {
    const name = uniqueName(entry.tool.name, names);
    const text = skillMd(name, entry);
    const document = await skillEntry(name, { 'SKILL.md': text });
    return [document.uri, { document, text }] as const;
  });
  return new Map(await Promise.all(pairs));
}

/** Generated, so that `allowed-tools` and other keys of untrusted frontmatter are not passed on. */
function skillMd(name: string, { tool, skill }: CatalogEntry): string {
  const { manifest, digest, instructions } = skill.bundle;
  // JSON strings are valid YAML, and quotes or line breaks in a description cannot end the line.
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

/** Lower-case letters, digits and single hyphens, as Agent Skills require; each name only once. */
function uniqueName(toolName: string, taken: Set<string>): string {
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
