/**
 * Shows Markdown as elements of a short list of kinds. It never parses HTML, and sets only classes and checked https links.
 *
 * @module
 */
import { h, type Child } from './dom.ts';
import type { Inline } from './markdown-inline.ts';
import { parseMarkdown, type Block, type ListItem } from './markdown.ts';

/** Below the heading of the panel, which is of level 2. */
const HEADINGS = ['h3', 'h4', 'h5', 'h6', 'h6', 'h6'] as const;

export function markdownView(text: string): HTMLElement {
  const { blocks, isCut } = parseMarkdown(text);
  return h(
    'div',
    'markdown',
    blocks.map(blockView),
    isCut && h('p', 'muted', 'The text is longer; the rest is not shown.'),
  );
}

function blockView(block: Block): HTMLElement {
  switch (block.kind) {
    case 'heading':
      return h(HEADINGS[block.level - 1] ?? 'h6', {}, inlineView(block.children));
    case 'code':
      return h('pre', 'code', h('code', {}, block.text));
    case 'list':
      return h(block.ordered ? 'ol' : 'ul', {}, block.items.map(itemView));
    case 'table':
      return h(
        'table',
        {},
        h('thead', {}, row('th', block.head)),
        h(
          'tbody',
          {},
          block.rows.map((cells) => row('td', cells)),
        ),
      );
    default:
      return h('p', {}, inlineView(block.children));
  }
}

function itemView({ children, blocks }: ListItem): HTMLElement {
  return h('li', {}, inlineView(children), blocks.map(blockView));
}

function row(tag: 'th' | 'td', cells: readonly Inline[][]): HTMLElement {
  return h(
    'tr',
    {},
    cells.map((cell) => h(tag, {}, inlineView(cell))),
  );
}

function inlineView(nodes: readonly Inline[]): Child[] {
  return nodes.map((node) => {
    switch (node.kind) {
      case 'text':
        return node.text;
      case 'code':
        return h('code', {}, node.text);
      case 'link':
        return linkView(node);
      default:
        return h(node.kind, {}, inlineView(node.children));
    }
  });
}

/** The host is always visible, because the label may claim another one. */
function linkView({ label, href, host }: Extract<Inline, { kind: 'link' }>): HTMLElement {
  const attrs = { href, target: '_blank', rel: 'noopener noreferrer nofollow' };
  return h('a', { attrs }, label === href ? label : `${label} (${host})`);
}
