/**
 * The table of `npm run denials`, for a terminal and for docs/denials.md.
 *
 * @module
 */
import type { Row } from './run.ts';

export function formatDenials(rows: readonly Row[]): string {
  const titles = Object.keys(rows[0]?.cells ?? {});
  const reasons: string[] = [];
  const lines = rows.map(({ act, cells }) => {
    const shown = titles.map((title) => {
      const { answer = '', why = '' } = cells[title] ?? {};
      if (answer === 'n/a' || answer === 'stopped') return `${answer} [${numberOf(why, reasons)}]`;
      return answer === act.answer ? 'same' : `**${answer}**`;
    });
    return [act.name, `\`${act.answer.replace(' ', '` `')}\``, ...shown];
  });
  const table = [['act', 'answer', ...titles], titles.concat('', '').map(() => '---'), ...lines];
  const notes = reasons.map((reason, index) => `${index + 1}. ${reason}`);
  return [table.map((cells) => `| ${cells.join(' | ')} |`).join('\n'), notes.join('\n')].join('\n\n');
}

function numberOf(reason: string, reasons: string[]): number {
  if (!reasons.includes(reason)) reasons.push(reason);
  return reasons.indexOf(reason) + 1;
}
