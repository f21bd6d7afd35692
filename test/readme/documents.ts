/**
 * Parses the documents for tests: fenced blocks, the commands in them, and the output that follows.
 *
 * A block of commands is marked `sh`; `sh exit=3` expects that exit code, `sh no-run` is an illustration.
 * A `text` or `json` block right after it is the output. A block with `file=PATH` is a file of the example.
 *
 * @module
 */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT: string = fileURLToPath(new URL('../..', import.meta.url)).replace(/\/$/, '');

export interface Block {
  language: string;
  /** The words after the language: `no-run`, `exit=3`, `file=…`. */
  marks: string[];
  text: string;
  line: number;
  /** The next block, if only white space is in between. */
  next: Block | undefined;
}

export interface Example {
  line: number;
  command: string;
  exitCode: number;
  /** Only the last command of a block has the block's output. */
  output: { language: string; text: string } | undefined;
}

export const DOCUMENTS: readonly string[] = globSync(['*.md', 'docs/**/*.md'], { cwd: ROOT }).toSorted();

export function readDocument(file: string): string {
  return readFileSync(join(ROOT, file), 'utf8');
}

export function blocksOf(markdown: string): Block[] {
  const fences = [...markdown.matchAll(/^```(\S+)?([^\n]*)\n(.*?)^```$/gms)];
  const blocks: Block[] = fences.map((fence) => ({
    language: fence[1] ?? '',
    marks: (fence[2] ?? '').split(' ').filter(Boolean),
    text: fence[3] ?? '',
    line: markdown.slice(0, fence.index).split('\n').length,
    next: undefined,
  }));
  for (const [index, fence] of fences.entries()) {
    const end = fence.index + fence[0].length;
    const after = fences[index + 1];
    const block = blocks[index];
    if (block && after && markdown.slice(end, after.index).trim() === '') block.next = blocks[index + 1];
  }
  return blocks;
}

/** The value of a marker such as `file=skill.py`. */
export function markOf({ marks }: Block, name: string): string | undefined {
  return marks.find((mark) => mark.startsWith(`${name}=`))?.slice(name.length + 1);
}

/** Every line with `npx skillcell` that is not marked as an illustration. */
export function examplesOf(markdown: string): Example[] {
  const runnable = blocksOf(markdown).filter(
    ({ language, marks }) => language === 'sh' && !marks.includes('no-run'),
  );
  return runnable.flatMap((block) => {
    const commands = block.text.split('\n').filter((line) => line.includes('npx skillcell'));
    return commands.map((command, index) => {
      const last = index === commands.length - 1;
      return {
        line: block.line,
        command: command.replace(/^npm ci && /, ''),
        exitCode: last ? Number(markOf(block, 'exit') ?? 0) : 0,
        output: last ? outputOf(block) : undefined,
      };
    });
  });
}

export function outputOf({ next }: Block): Example['output'] {
  return next && ['text', 'json'].includes(next.language) && next.marks.length === 0 ? next : undefined;
}

/** Rows of the table under a heading, as cells without backticks. */
export function tableUnder(markdown: string, heading: string): string[][] {
  const [, section = ''] = markdown.split(new RegExp(`^#+ ${heading}$`, 'm'));
  const lines = (section.split(/^#/m)[0] ?? '').split('\n').filter((line) => line.startsWith('|'));
  return lines.slice(2).map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim().replaceAll('`', '')),
  );
}
