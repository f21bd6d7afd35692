/**
 * The programs of the bench, and skills that do nothing.
 *
 * @module
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Program } from '../../../src/index.ts';

export type Repeat = 'oneByOne' | 'atOnce';

/** Each returns the number of results it got. */
export const PROGRAMS: Readonly<Record<Repeat, (language: Program['language'], skill: string) => string>> = {
  oneByOne: (language, skill) =>
    language === 'python'
      ? `made = 0
for _ in range(input["count"]):
    made += skills["${skill}"](text=input["text"])["words"] > 0
return made`
      : `let made = 0;
for (let at = 0; at < input.count; at++) made += Number((await skills['${skill}']({ text: input.text })).words > 0);
return made;`,
  atOnce: (language, skill) =>
    language === 'python'
      ? `import asyncio
call = skills["${skill}"]
all = await asyncio.gather(*[call(text=input["text"]) for _ in range(input["count"])])
return sum(one["words"] > 0 for one in all)`
      : `const call = () => skills['${skill}']({ text: input.text });
const all = await Promise.all(Array.from({ length: input.count }, call));
return all.filter(({ words }) => words > 0).length;`,
};

export function placeFreshSkills(folder: string): void {
  place(folder, 'typescript', ['skill.ts', 'export const execute = ({ n }: { n: number }) => n;\n']);
  place(folder, 'python', ['skill.py', 'def execute(params):\n    return params["n"]\n']);
}

function place(folder: string, language: string, [file, source]: [string, string]): void {
  const dir = join(folder, 'skills', 'bench', `fresh_${language}`);
  const manifest = {
    name: `bench/fresh_${language}`,
    version: '1.0.0',
    description: 'Returns its input.',
    execution: ['wasm'],
    capabilities: {},
  };
  mkdirSync(dir, { recursive: true });
  writeFileSync(join(dir, 'manifest.yaml'), JSON.stringify(manifest));
  writeFileSync(join(dir, file), source);
}
