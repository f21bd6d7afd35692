/**
 * Many small skills of four kinds, each with files of its own.
 *
 * @module
 */
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../src/inside.ts';

export const KINDS = ['component', 'TypeScript', 'Python in Wasm', 'native Python'] as const;
export type Kind = (typeof KINDS)[number];

export interface DenseSkill {
  kind: Kind;
  dir: string;
  /** What it returns for `{ text: 'one two three' }`. */
  words: number;
}

const COMPONENT = join(packageRoot(), 'skills', 'text', 'word_stats_c');
const PYTHON = (at: number): string => `import json
import re
from collections import Counter

WORD = re.compile(r"\\w+")
ID = ${at}


def execute(params):
    counts = Counter(WORD.findall(params["text"]))
    return {"words": sum(counts.values()), "id": ID, "top": json.dumps(counts.most_common(3))}
`;
const TYPESCRIPT = (at: number): string => `const ID = ${at};

export function execute({ text }: { text: string }): { words: number; id: number } {
  const counts = new Map<string, number>();
  for (const word of text.split(/\\s+/)) counts.set(word, (counts.get(word) ?? 0) + 1);
  return { words: [...counts.values()].reduce((sum, count) => sum + count, 0), id: ID };
}
`;

/** The kinds in turn. */
export function writeSkills(folder: string, count: number): DenseSkill[] {
  return Array.from({ length: count }, (_, at) => {
    const kind = KINDS[at % KINDS.length] as Kind;
    const dir = join(folder, 'dense', `skill_${at}`);
    mkdirSync(dir, { recursive: true });
    writeSkill(kind, dir, at);
    return { kind, dir, words: 3 };
  });
}

function writeSkill(kind: Kind, dir: string, at: number): void {
  const mode = kind === 'native Python' ? 'subprocess' : 'wasm';
  const manifest = {
    name: `dense/skill_${at}`,
    version: '1.0.0',
    description: 'Counts the words of a text.',
    execution: [mode],
    parameters: { type: 'object', properties: { text: { type: 'string' } } },
    capabilities: {},
  };
  // JSON is YAML.
  writeFileSync(join(dir, 'manifest.yaml'), JSON.stringify(manifest));
  if (kind === 'component') copyFileSync(join(COMPONENT, 'skill.wasm'), join(dir, 'skill.wasm'));
  else if (kind === 'TypeScript') writeFileSync(join(dir, 'skill.ts'), TYPESCRIPT(at));
  else writeFileSync(join(dir, 'skill.py'), PYTHON(at));
}
