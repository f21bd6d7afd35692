/**
 * What the Skills extension serves for each skill: a SKILL.md that says how to use it, and the texts of an Agent Skill, but
 * no code. The code runs only in a cell, through the tools; a client that received it as a file could run it outside.
 *
 * @module
 */
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import {
  skillEntry,
  type Skill as Document,
  type SkillSource,
} from '@modelcontextprotocol/server/ext/skills';
import { EXEC_TOOL, isAgentSkill, READ_TOOL } from './agent-skills.ts';
import type { CatalogEntry, Entries } from './catalog.ts';
import { visibleText } from './visible.ts';

const SKILL_MD = 'SKILL.md';
const PAGE_SIZE = 100;
const MAX_NAME = 64;
/** The maximum of the Agent Skills format. */
const MAX_DESCRIPTION = 1024;
/** References of an Agent Skill, which models read. */
const TEXTS = /\.(?:md|mdx|txt|csv|ya?ml|json)$/i;
const MAX_TEXTS = 100;
const MAX_TEXT_BYTES = 256 * 1024;
const MAX_TEXTS_BYTES = 2 * 1024 * 1024;

interface ServedDocument {
  document: Document;
  /** By path inside the skill. */
  texts: ReadonlyMap<string, string>;
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
      for (const { document, texts } of (await documents()).values()) {
        const folder = document.uri.slice(0, -SKILL_MD.length);
        const path = uri.startsWith(folder) ? uri.slice(folder.length) : '';
        const text = texts.get(path);
        if (text !== undefined)
          return { text, mimeType: path.endsWith('.md') ? 'text/markdown' : 'text/plain' };
      }
      return undefined;
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
    const texts = new Map([[SKILL_MD, skillMd(name, entry)], ...(await referencesOf(entry))]);
    const document = await skillEntry(name, Object.fromEntries(texts));
    return [document.uri, { document, texts }] as const;
  });
  return new Map(await Promise.all(pairs));
}

/** Texts beside the SKILL.md, from the verified copy, as many as fit. */
async function referencesOf(entry: CatalogEntry): Promise<[string, string][]> {
  if (!isAgentSkill(entry)) return [];
  const { files, stagedDir } = entry.skill.bundle;
  const paths = Object.keys(files).filter((path) => TEXTS.test(path) && path !== SKILL_MD);
  const found: [string, string][] = [];
  let room = MAX_TEXTS_BYTES;
  for (const path of paths.slice(0, MAX_TEXTS)) {
    const { size } = await stat(join(stagedDir, path));
    if (size > MAX_TEXT_BYTES || size > room) continue;
    room -= size;
    found.push([path, visibleText(await readFile(join(stagedDir, path), 'utf8'))]);
  }
  return found;
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
  return [
    '---',
    ...frontmatter,
    '---',
    '',
    howToUse({ tool, skill }),
    '',
    visibleText(instructions?.trim() ?? ''),
    '',
  ].join('\n');
}

function howToUse(entry: CatalogEntry): string {
  const granted = 'It runs in a cell that can do only what a person granted.';
  if (!isAgentSkill(entry)) return `Call the tool \`${entry.tool.name}\` of this server. ${granted}`;
  const { skill } = entry;
  const read = `Read its other files with the tool \`${READ_TOOL}\` of this server.`;
  if (skill.bundle.kind === 'instructions') return read;
  return `Run its scripts with the tool \`${EXEC_TOOL}\` of this server ("skill": "${skill.bundle.manifest.name}"), never directly. ${granted} ${read}`;
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
