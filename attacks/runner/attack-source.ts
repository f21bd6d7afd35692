/**
 * The source of an attack by a skill, and the bundle built from it. An attack is one file, or a folder if it needs
 * several. Its first comment is the description, optionally followed by an empty line and YAML: manifest keys that differ
 * from those of the corpus. `null` removes a key of the corpus.
 *
 * @module
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, parse as parsePath } from 'node:path';
import { parse } from 'yaml';
import { PATIENT_LIMITS } from './patience.ts';
import { ATTACKS_DIR } from './places.ts';

const PARTS_DIR = join(ATTACKS_DIR, 'runner', 'parts');

export type SkillCorpus = 'subprocess' | 'python-wasm' | 'js-wasm';

interface CorpusFacts {
  entry: string;
  comment: RegExp;
  execution: string;
}

/** The corpora of skills: the file name of a skill, the form of its first comment, and where it runs. */
const CORPORA: Readonly<Record<SkillCorpus, CorpusFacts>> = {
  subprocess: { entry: 'skill.py', comment: /^"""(.*?)"""/s, execution: 'subprocess' },
  'python-wasm': { entry: 'skill.py', comment: /^"""(.*?)"""/s, execution: 'wasm' },
  'js-wasm': { entry: 'skill.js', comment: /^\/\*\*(.*?)\*\//s, execution: 'wasm' },
};

export type ManifestFields = Readonly<Record<string, unknown>>;

export interface AttackSource {
  description: string;
  manifest: ManifestFields;
  /** By name. */
  files: Readonly<Record<string, string>>;
}

/** Every source of a corpus, by the name that attacks use. */
export function sourceNames(corpus: SkillCorpus): string[] {
  return readdirSync(join(ATTACKS_DIR, corpus))
    .map((file) => file.replace(/\.\w+$/, ''))
    .sort();
}

export function readAttack(corpus: SkillCorpus, bundle: string): AttackSource {
  const { entry, comment, execution } = CORPORA[corpus];
  const files = withParts(readSource(join(ATTACKS_DIR, corpus, bundle), entry));
  const text = comment.exec(files[entry] ?? '')?.[1];
  if (text === undefined)
    throw new Error(`The attack ${corpus}/${bundle} does not begin with a description.`);
  const [description = '', ...own] = text
    .replaceAll(/^ \* ?/gm, '')
    .trim()
    .split('\n\n');
  const declared = parse(own.join('\n\n')) as ManifestFields | null;
  const manifest = {
    name: `${corpus}/${bundle}`,
    version: '1.0.0',
    description,
    execution,
    capabilities: {},
    ...declared,
    limits: { ...PATIENT_LIMITS, ...(declared?.['limits'] as ManifestFields | undefined) },
  };
  return { description, manifest, files };
}

function readSource(path: string, entry: string): Record<string, string> {
  const file = path + entry.slice(entry.lastIndexOf('.'));
  if (existsSync(file)) return { [entry]: readFileSync(file, 'utf8') };
  return Object.fromEntries(readdirSync(path).map((name) => [name, readFileSync(join(path, name), 'utf8')]));
}

/** Code that several attacks share: a file of `runner/parts` goes into the bundle of every attack that imports it. */
function withParts(files: Record<string, string>): Record<string, string> {
  const own = Object.values(files);
  const parts = readdirSync(PARTS_DIR).filter((part) => own.some((source) => imports(source, part)));
  return {
    ...Object.fromEntries(parts.map((part) => [part, readFileSync(join(PARTS_DIR, part), 'utf8')])),
    ...files,
  };
}

function imports(source: string, part: string): boolean {
  const { name, ext } = parsePath(part);
  return ext === '.py' ? source.includes(`\nfrom ${name} import `) : source.includes(`from './${part}';`);
}

export function writeBundle(dir: string, { manifest, files }: Omit<AttackSource, 'description'>): void {
  mkdirSync(dir, { recursive: true });
  writeManifest(dir, manifest);
  for (const [name, text] of Object.entries(files)) writeFileSync(join(dir, name), text);
}

export function writeManifest(dir: string, fields: ManifestFields): void {
  const declared = Object.entries(fields).filter(([, value]) => value !== null);
  // JSON is YAML.
  writeFileSync(join(dir, 'manifest.yaml'), JSON.stringify(Object.fromEntries(declared)));
}
