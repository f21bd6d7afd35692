/**
 * The folders in which agents keep Agent Skills: in a project, and in the home of a user.
 *
 * @module
 */
import { mapTable, namesOf } from './table.ts';

interface AgentFolderRow {
  project: string;
  home: string;
}

/** Most agents use the same folder in both. */
const FOLDERS = {
  agents: { project: '.agents/skills' },
  claude: { project: '.claude/skills' },
  gemini: { project: '.gemini/skills' },
  cursor: { project: '.cursor/skills' },
  copilot: { project: '.github/skills', home: '.copilot/skills' },
  codex: { project: '.codex/skills' },
} as const;

export type AgentFolder = keyof typeof FOLDERS;

export const AGENT_FOLDERS: Readonly<Record<AgentFolder, AgentFolderRow>> = mapTable(FOLDERS, (_, row) => ({
  home: row.project,
  ...row,
}));

export const AGENT_FOLDER_NAMES: readonly AgentFolder[] = namesOf(AGENT_FOLDERS);

/** The file that makes a folder a skill. */
export const SKILL_FILE = 'SKILL.md';

const ALL: readonly string[] = AGENT_FOLDER_NAMES.flatMap((name) => Object.values(AGENT_FOLDERS[name]));

/** Names of the folders around `skills`, in a project or a home. */
export const AGENT_PLACES: readonly string[] = [...new Set(ALL.map((path) => path.replace('/skills', '')))];

/** The file that makes a folder a marketplace of plugins, and where Claude Code keeps those that a user added. */
export const MARKETPLACE_FILE = '.claude-plugin/marketplace.json';
export const MARKETPLACES_FOLDER = '.claude/plugins/marketplaces';

const INSIDE: readonly string[] = [...ALL, MARKETPLACES_FOLDER].map((folder) => `/${folder}/`);

/** Whether a path leads through a folder of an agent, into which tools copy third-party skills. */
export function isInAgentFolder(path: string): boolean {
  return INSIDE.some((folder) => `${path}/`.includes(folder));
}
