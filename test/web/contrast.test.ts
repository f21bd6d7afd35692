/**
 * Every text colour of the console has enough contrast with its background in both themes (WCAG 2, level AA).
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { packageRoot } from '../../src/inside.ts';

const ENOUGH = 4.5;
/** Text colour and background colour. */
const PAIRS: readonly [string, string][] = [
  ['ink', 'paper'],
  ['ink', 'surface'],
  ['ink', 'raised'],
  ['ink', 'bad-soft'],
  ['muted', 'paper'],
  ['muted', 'surface'],
  ['muted', 'raised'],
  ['accent', 'surface'],
  ['accent', 'paper'],
  ['accent', 'accent-soft'],
  ['on-accent', 'accent'],
  ['bad', 'surface'],
  ['bad', 'bad-soft'],
  ['warn', 'surface'],
  ['warn', 'warn-soft'],
];

const style = readFileSync(join(packageRoot(), 'src/web/static/style.css'), 'utf8');
const colours = new Map(
  [...style.matchAll(/--([\w-]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\);/g)].map(
    ([, name = '', light = '', dark = '']) => [name, { light, dark }],
  ),
);

test.each(PAIRS)('the colour %s is readable on %s', (text, ground) => {
  for (const theme of ['light', 'dark'] as const) {
    const [above, below] = [colours.get(text)?.[theme] ?? '', colours.get(ground)?.[theme] ?? ''];
    expect(contrast(above, below), theme).toBeGreaterThanOrEqual(ENOUGH);
  }
});

function contrast(one: string, other: string): number {
  const [dark = 0, light = 0] = [luminance(one), luminance(other)].toSorted((a, b) => a - b);
  return (light + 0.05) / (dark + 0.05);
}

function luminance(colour: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5]
    .map((at) => Number.parseInt(colour.slice(at, at + 2), 16) / 255)
    .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}
