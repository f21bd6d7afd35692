/**
 * Folders of a project or a home in which agents look for skills.
 *
 * @module
 */
export const SKILL_PLACES = [
  '.agents',
  '.claude',
  '.gemini',
  '.cursor',
  '.github',
  '.copilot',
  '.codex',
] as const;
/** The file that makes a folder a skill. */
export const SKILL_FILE = 'SKILL.md';
