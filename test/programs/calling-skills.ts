/**
 * The same skills that call skills, once for each language, for a table over engines, walls and starts.
 *
 * @module
 */
import { dedent, writeSkill } from '../write-skill.ts';

export type Language = 'typescript' | 'python';

export type ActName =
  | 'in_a_row'
  | 'at_once'
  | 'errors'
  | 'curious'
  | 'function_of_host'
  | 'large_params'
  | 'large_result'
  | 'left_behind'
  | 'forever'
  | 'module_level';

/** The body of an asynchronous function of `params`. */
export interface Bodies {
  typescript: string;
  python: string;
}

interface Act extends Bodies {
  skills?: string[];
}

/** By name. Each must do the same in every language, engine and wall. */
const ACTS: Readonly<Record<ActName, Act>> = {
  in_a_row: {
    typescript: `const once = await skills.math.double({ n: params.n });
      return skills['math/double'](once);`,
    python: `
      once = skills.math.double(n=params["n"])
      return skills["math/double"](once)`,
  },
  at_once: {
    typescript: `const all = await Promise.all([...Array(80).keys()].map((n) => skills.math.double({ n })));
      return all.reduce((sum, { n }) => sum + n, 0);`,
    python: `
      import asyncio
      all = await asyncio.gather(*[skills.math.double(n=n) for n in range(80)])
      return sum(one["n"] for one in all)`,
  },
  errors: {
    skills: ['math/*'],
    typescript: `const caught = [];
      for (const call of [() => skills.math.fail({}), () => skills.math.double({}), () => skills.text.echo({})])
        await call().catch((e) => caught.push([e.name, e.code, typeof e.fix, e.message]));
      return caught;`,
    python: `
      caught = []
      for call in (skills.math.fail, skills.math.double, skills.text.echo):
          try:
              await call({})
          except SkillCallError as e:
              caught.append([type(e).__name__, e.code, "string" if isinstance(e.fix, str) else "", e.message])
      return caught`,
  },
  curious: {
    typescript: `return skills[params.skill]({});`,
    python: `
      return skills[params["skill"]]({})`,
  },
  function_of_host: {
    typescript: `return functions.now({}).catch((e) => e.code);`,
    python: `
      try:
          return functions.now()
      except SkillCallError as e:
          return e.code`,
  },
  large_params: {
    typescript: `return skills.math.double({ text: 'x'.repeat(params.mib * 1024 * 1024) }).catch((e) => e.code);`,
    python: `
      try:
          return skills.math.double(text="x" * (params["mib"] * 1024 * 1024))
      except SkillCallError as e:
          return e.code`,
  },
  large_result: {
    skills: ['text/echo'],
    typescript: `const { text } = await skills.text.echo({ text: 'ä'.repeat(500_000) });
      return text.length;`,
    python: `
      return len(skills.text.echo(text="ä" * 500_000)["text"])`,
  },
  left_behind: {
    skills: ['math/*', 'slow/forever'],
    typescript: `skills.slow.forever({}).catch(() => 0); await skills.math.double({ n: 1 }); return 5;`,
    python: `
      skills.slow.forever()
      await skills.math.double(n=1)
      return 5`,
  },
  forever: {
    skills: ['slow/forever'],
    typescript: `await skills.slow.forever({});`,
    python: `
      skills.slow.forever()["never"]`,
  },
  /** Whole modules. */
  module_level: {
    typescript: 'const early = await skills.math.double({ n: 4 }); export const execute = () => early;',
    python: `
      early = skills.math.double(n=4)
      def execute(params):
          return early`,
  },
};

/** Writes the skill that does this, and returns its folder. */
export function writeActingSkill(
  folder: string,
  name: ActName,
  { language, execution, ...manifest }: { language: Language; execution: string } & Record<string, unknown>,
): string {
  const { skills = ['math/double'], ...act } = ACTS[name];
  const id = `acting/${name}_${language}_${execution}`;
  return writeBody(folder, id, { ...{ language, execution }, ...act, capabilities: { skills }, ...manifest });
}

interface Written extends Bodies {
  language: Language;
  execution: string;
  /** The rest of the manifest. */
  [key: string]: unknown;
}

/** Writes the skill whose `execute` has this body, in one language and for one mode, and returns its folder. */
export function writeBody(
  folder: string,
  id: string,
  { language, execution, typescript, python, ...manifest }: Written,
): string {
  const isPython = language === 'python';
  const [entry, code] = isPython
    ? ['skill.py', pythonSource(python)]
    : ['skill.ts', typescriptSource(typescript)];
  return writeSkill(folder, {
    id,
    manifest: { execution: [execution], entry, parameters: { type: 'object' }, ...manifest },
    files: { [entry]: code },
  });
}

function typescriptSource(body: string): string {
  if (body.includes('execute')) return body;
  return `export async function execute(params: any) {${body}}`;
}

function pythonSource(body: string): string {
  if (body.includes('execute')) return dedent(body);
  const kind = body.includes('await ') ? 'async def' : 'def';
  const lines = dedent(body)
    .trim()
    .split('\n')
    .map((line) => `    ${line}`);
  return `${kind} execute(params):\n${lines.join('\n')}\n`;
}
