/**
 * Finds the commands in the code blocks of a Markdown text: what the text tells a model to run.
 *
 * @module
 */

export interface MarkdownCommand {
  text: string;
  /** 1-based. */
  line: number;
}

const FENCE = /^[ \t]{0,40}(`{3,20}|~{3,20})[ \t]*([\w+.-]{0,40})/;
const SHELL_BLOCKS: ReadonlySet<string> = new Set(['bash', 'sh', 'shell', 'zsh']);
/** Blocks in which only lines with a prompt are commands. */
const SESSION_BLOCKS: ReadonlySet<string> = new Set(['console', 'terminal', 'shell-session', 'shellsession']);
const PROMPT = /^\s{0,40}(?:\$|>|%)\s{1,10}(?=\S)/;
/** Blocks without a language hold anything, so only such starts count. */
const USUAL_STARTS =
  /^\s{0,40}(?:\$\s|(?:python3?|bash|sh|node|npx|npm|pip3?|uvx?|curl|wget|git|sudo|scripts\/|\.\/)(?:\s|\S*\.(?:py|sh|js|ts)\b))/;
/** A command that a sentence quotes. */
const INLINE = /`((?:python3?|bash|sh|node|uv run)\s[^`\n]{1,300})`/g;
const HERE_DOCUMENT = /<<-?\s{0,5}["']?([A-Za-z_]\w{0,40})/;

interface Block {
  fence: string;
  kind: 'shell' | 'session' | 'unknown' | 'other';
}

export function commandsInMarkdown(text: string): MarkdownCommand[] {
  const found: MarkdownCommand[] = [];
  let block: Block | undefined;
  let endOfHere: string | undefined;
  let pending: MarkdownCommand | undefined;
  text.split(/\r?\n/).forEach((line, index) => {
    const [, fence = '', language = ''] = FENCE.exec(line) ?? [];
    if (block === undefined) {
      if (fence !== '') block = { fence, kind: kindOfBlock(language.toLowerCase()) };
      else for (const [, quoted = ''] of line.matchAll(INLINE)) found.push({ text: quoted, line: index + 1 });
      return;
    }
    if (fence.startsWith(block.fence) && language === '') {
      block = pending = endOfHere = undefined;
      return;
    }
    if (endOfHere !== undefined) {
      if (line.trim() === endOfHere) endOfHere = undefined;
      return;
    }
    const part = pending ? line.trim() : commandIn(line, block.kind);
    if (part === undefined) return;
    const command = pending ?? { text: '', line: index + 1 };
    command.text = `${command.text} ${part.replace(/\\$/, '')}`.trim().slice(0, 2000);
    if (!pending) found.push(command);
    pending = part.endsWith('\\') ? command : undefined;
    endOfHere = HERE_DOCUMENT.exec(part)?.[1];
  });
  return found.filter((command) => command.text !== '');
}

function kindOfBlock(language: string): Block['kind'] {
  if (SHELL_BLOCKS.has(language)) return 'shell';
  if (SESSION_BLOCKS.has(language)) return 'session';
  return language === '' || language === 'text' ? 'unknown' : 'other';
}

function commandIn(line: string, kind: Block['kind']): string | undefined {
  if (kind === 'other') return undefined;
  if (kind === 'session' && !PROMPT.test(line)) return undefined;
  if (kind === 'unknown' && !USUAL_STARTS.test(line)) return undefined;
  const text = line.replace(PROMPT, '').trim();
  return text === '' || text.startsWith('#') ? undefined : text;
}
