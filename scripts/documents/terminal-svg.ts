/**
 * A terminal session as an animated picture: one SVG with CSS, without scripts and without external resources, so that
 * it plays wherever a picture is shown. Commands are typed, answers appear.
 *
 * @module
 */
export interface Entry {
  command: string;
  /** The output, both streams in order. */
  output: string;
}

const COLUMNS = 116;
const CHARACTER = 8;
const LINE = 20;
const PADDING = 20;
const TYPING = 0.025;
const PAUSE = 1.2;
/** How long the end stays visible. */
const REST = 5;

interface Line {
  text: string;
  kind: 'command' | 'output' | 'warning' | 'error' | 'fix';
  /** Continues the line above, which was too long. */
  isContinued: boolean;
  /** Seconds from the start. */
  at: number;
}

export function terminalSvg(entries: readonly Entry[], title: string): string {
  const { lines, seconds } = timed(entries);
  const width = COLUMNS * CHARACTER + 2 * PADDING;
  const height = lines.length * LINE + 2 * PADDING;
  const rows = lines.map((line, index) => svgLine(line, index));
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">`,
    `<title>${escaped(title)}</title>`,
    `<style>${styleOf(lines, seconds)}</style>`,
    `<rect width="${width}" height="${height}" rx="8" fill="#15191f"/>`,
    ...rows,
    '</svg>\n',
  ].join('\n');
}

/** The text of the picture, as a sufficiently wide terminal would show it. */
export function textOf(svg: string): string {
  const rows = [...svg.matchAll(/<text class="(\w+)( more)?"[^>]*>([^<]*)<\/text>/g)];
  return rows
    .map(([, , more, text = '']) => `${more === undefined ? '\n' : ''}${unescaped(text)}`)
    .join('')
    .trimStart();
}

function timed(entries: readonly Entry[]): { lines: Line[]; seconds: number } {
  const lines: Line[] = [];
  let at = 0.5;
  for (const { command, output } of entries) {
    for (const [index, text] of wrapped(`$ ${command}`).entries()) {
      lines.push({ text, kind: 'command', isContinued: index > 0, at });
      at += text.length * TYPING;
    }
    at += PAUSE / 2;
    for (const line of output.trimEnd().split('\n')) {
      const kind = kindOf(line);
      for (const [index, text] of wrapped(line).entries())
        lines.push({ text, kind, isContinued: index > 0, at });
    }
    at += PAUSE;
  }
  return { lines, seconds: at + REST };
}

function kindOf(line: string): Line['kind'] {
  const [, word] = /^(warning|error|fix)\b/.exec(line) ?? [];
  return (word as Line['kind'] | undefined) ?? 'output';
}

function wrapped(text: string): string[] {
  return text.match(new RegExp(`.{1,${COLUMNS}}`, 'g')) ?? [''];
}

function svgLine({ text, kind, isContinued }: Line, index: number): string {
  const y = PADDING + (index + 0.75) * LINE;
  const classes = isContinued ? `${kind} more` : kind;
  // The width is fixed, so that the cover of a typed line fits with any font.
  const size = `textLength="${text.length * CHARACTER}" lengthAdjust="spacingAndGlyphs"`;
  const shown = `<text class="${classes}" id="l${index}" x="${PADDING}" y="${y}" ${size}>${escaped(text)}</text>`;
  if (kind !== 'command') return shown;
  const width = text.length * CHARACTER + 2;
  const cover = `<rect id="c${index}" x="${PADDING}" y="${PADDING + index * LINE}" width="${width}" height="${LINE}" fill="#15191f"/>`;
  return `${shown}\n${cover}`;
}

function styleOf(lines: readonly Line[], seconds: number): string {
  const percent = (at: number): string => `${((at / seconds) * 100).toFixed(2)}%`;
  const rules = lines.flatMap(({ text, kind, at }, index) => {
    const appear = `@keyframes l${index}{0%,${percent(at)}{opacity:0}${percent(at + 0.01)},100%{opacity:1}}`;
    const own = [appear, `#l${index}{animation:l${index} ${seconds.toFixed(1)}s infinite}`];
    if (kind !== 'command') return own;
    const [from, to] = [percent(at), percent(at + text.length * TYPING)];
    const away = `transform:translateX(${text.length * CHARACTER}px) scaleX(0)`;
    const typed = `@keyframes c${index}{0%,${from}{transform:none;animation-timing-function:steps(${text.length})}${to},100%{${away}}}`;
    return [
      ...own,
      typed,
      `#c${index}{transform-box:fill-box;animation:c${index} ${seconds.toFixed(1)}s infinite}`,
    ];
  });
  return [
    'text{font:13px ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;white-space:pre;fill:#d5dbe3}',
    '.command{fill:#fff;font-weight:600}.warning{fill:#e3b341}.error{fill:#ff7b72}.fix{fill:#7ee787}',
    ...rules,
    // With reduced motion, only the end is shown.
    '@media (prefers-reduced-motion:reduce){text,rect{animation:none!important}rect[id]{display:none}}',
  ].join('\n');
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

function unescaped(text: string): string {
  return text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&');
}
