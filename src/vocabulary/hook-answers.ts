/**
 * How `skillcell hook` answers when it has rewritten a command, and the agents whose settings it prints.
 *
 * @module
 */
import { choicesIn, type Choices } from './table.ts';

/** No answer is "allow": a rewrite must not skip a question that the user's own rules would ask. */
const HOOK_ANSWERS = {
  ask: 'show the rewritten command and ask the user',
  rules: "leave the decision about the rewritten command to the agent's own rules",
  deny: 'deny the command and tell the model what to run instead',
} as const;

export type HookAnswer = keyof typeof HOOK_ANSWERS;
export const HOOK_ANSWER_NAMES: Choices<HookAnswer> = choicesIn(HOOK_ANSWERS);

/** Agents that send the same JSON to a hook, the file of their settings, and the answer that suits them. */
export const HOOK_AGENTS = {
  claude: { place: '.claude/settings.json of a project, or ~/.claude/settings.json', answer: 'ask' },
  codex: { place: '~/.codex/hooks.json, or .codex/hooks.json of a trusted project', answer: 'deny' },
} as const;

export type HookAgent = keyof typeof HOOK_AGENTS;
export const HOOK_AGENT_NAMES: Choices<HookAgent> = choicesIn(HOOK_AGENTS);
