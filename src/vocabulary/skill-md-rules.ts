/**
 * The rules of the Agent Skills specification for the frontmatter of SKILL.md, and what happens to a folder that breaks one.
 *
 * @module
 */

/** `rule` ends the sentence "SKILL.md must …"; `used` is what is used if a folder that breaks the rule still loads. */
export const SKILL_MD_RULES = {
  frontmatter: { rule: 'start with frontmatter between two lines of "---"', broken: 'refused', used: '' },
  yaml: {
    rule: 'have a YAML mapping as its frontmatter; quote a value that contains ": "',
    broken: 'warning',
    used: 'reads the value as text; refused if that does not help',
  },
  'name-present': { rule: 'have a name', broken: 'warning', used: "uses the folder's name" },
  'name-length': {
    rule: 'have a name of 1 to 64 characters',
    broken: 'warning',
    used: "uses the folder's name; refused if that is not a valid id",
  },
  'name-characters': {
    rule: 'use only a-z, 0-9 and "-" in the name',
    broken: 'warning',
    used: 'uses the name if only "_" is wrong, else the folder\'s; refused if that is not a valid id',
  },
  'name-hyphens': {
    rule: 'not start or end the name with "-", nor repeat it',
    broken: 'warning',
    used: 'uses the name if only "--" is wrong, else the folder\'s',
  },
  'name-folder': {
    rule: 'have the name of its folder',
    broken: 'warning',
    used: 'uses the name; in a folder of agents, the name of the folder',
  },
  'description-present': { rule: 'have a description that is text', broken: 'refused', used: '' },
  'description-length': {
    rule: 'have a description of at most 1024 characters',
    broken: 'warning',
    used: 'uses all of it',
  },
  'license-text': { rule: 'have text as its license', broken: 'warning', used: 'has no effect anyway' },
  'compatibility-length': {
    rule: 'have 1 to 500 characters as its compatibility',
    broken: 'warning',
    used: 'has no effect anyway',
  },
  'metadata-text': {
    rule: 'have a mapping of text to text as its metadata',
    broken: 'warning',
    used: 'has no effect anyway',
  },
  'allowed-tools-text': {
    rule: 'have one text with spaces as its allowed-tools',
    broken: 'warning',
    used: 'grants nothing anyway',
  },
  'known-keys': { rule: 'have no other keys', broken: 'warning', used: 'they have no effect' },
} as const;

export type SkillMdRule = keyof typeof SKILL_MD_RULES;

export const SKILL_MD_LIMITS = { name: 64, description: 1024, compatibility: 500 } as const;
