/**
 * `skillcell publish` and `skillcell mirror`
 *
 * @module
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  assertCatalogPlace,
  HttpClient,
  listInCatalog,
  mirrorSkill,
  parseReference,
  publishSkill,
  printableLine,
  readEverything,
  type OciReference,
  type Published,
  type Runtime,
  type Skill,
} from '../../inside.ts';
import { interruption } from '../interruption.ts';
import { LiveTransfer } from '../live-transfer.ts';
import { openRuntime } from '../open-runtime.ts';
import { printAnswer, printLine, printNote } from '../output.ts';
import { readText } from '../read-text.ts';

export interface PublishFlags {
  key?: string;
  study?: string;
  /** Files. */
  attach?: string[];
  wasm?: boolean;
  /** Reference of a catalog. */
  catalog?: string;
  force?: boolean;
  json?: boolean;
}

export async function publish(ref: string, to: string, flags: PublishFlags = {}): Promise<number> {
  const reference = parseReference(to);
  const catalog = catalogFor(reference, flags);
  const key = flags.key === undefined ? undefined : readText(flags.key, 'private key');
  const study =
    flags.study === undefined
      ? undefined
      : { file: flags.study, text: readText(flags.study, 'report of a study') };
  const attached = flags.attach?.map((file) => ({ file, text: readText(file, 'Sigstore bundle') }));
  await using runtime = openRuntime({ needsPolicy: false });
  const { bundle } = await loadLocked(runtime, ref);
  const { name, version, description, requirements } = bundle.manifest;
  // The staged copy is what was checked.
  const { contents, digest } = readEverything(bundle.stagedDir);
  const lock = readFileSync(join(bundle.sourceDir, 'skill.lock'));
  const skill = { name, version, description, contents, digest, lock, signature: bundle.vouched?.signature };
  using live = new LiveTransfer();
  using http = new HttpClient();
  const watch = { onProgress: live.onProgress, signal: interruption() };
  const published = await publishSkill(
    { skill, requirements, reference, key, study, attached, wasm: flags.wasm, force: flags.force },
    { http, watch },
  );
  const listed =
    catalog &&
    (await listInCatalog({ skill: parseReference(published.reference), catalog }, { http, watch }));
  live.clear();
  const answer = { skill: name, version, ...published, ...(catalog ? { listed } : {}) };
  printAnswer(flags.json, answer, describe(name, version, published));
  if (!flags.json) printFacts(published);
  if (!flags.json) printListed(flags.catalog, listed);
  return 0;
}

/** A skill without a lock is locked first; one whose files differ from its lock is refused by the load. */
async function loadLocked(runtime: Runtime, ref: string): Promise<Skill> {
  const skill = await runtime.load(ref);
  if (skill.bundle.lock === 'locked') return skill;
  const { file } = await runtime.writeLock(ref);
  printNote(`Wrote ${printableLine(file)}, because only locked skills are published.`);
  return runtime.load(ref);
}

function describe(name: string, version: string, { isNew, reference }: Published): string {
  const verb = isNew ? 'Published' : 'Already published:';
  return `${verb} ${printableLine(name)} ${printableLine(version)} as ${reference}`;
}

function printFacts({ bundle, documents, signers, wasm }: Published): void {
  printLine(`bundle     ${bundle}`);
  printLine(`signed by  ${signers.join(', ') || 'nobody (pass --key FILE to sign it)'}`);
  printLine(`documents  ${documents} new`);
  if (wasm !== undefined) printLine(`component  ${wasm}`);
}

function catalogFor(skill: OciReference, { catalog }: { catalog?: string }): OciReference | undefined {
  if (catalog === undefined) return undefined;
  const place = parseReference(catalog);
  assertCatalogPlace(skill, place);
  return place;
}

function printListed(catalog: string | undefined, isNew: boolean | undefined): void {
  if (catalog === undefined) return;
  printLine(printableLine(`catalog    ${catalog}${isNew ? '' : ' lists this or a newer version already'}`));
}

export interface MirrorFlags {
  catalog?: string;
  force?: boolean;
  json?: boolean;
}

export async function mirror(from: string, to: string, flags: MirrorFlags = {}): Promise<number> {
  const [source, target] = [parseReference(from), parseReference(to)];
  const catalog = catalogFor(target, flags);
  using live = new LiveTransfer();
  using http = new HttpClient();
  const watch = { onProgress: live.onProgress, signal: interruption() };
  const mirrored = await mirrorSkill(source, target, { http, watch, force: flags.force });
  const { reference, isNew, documents } = mirrored;
  const listed =
    catalog && (await listInCatalog({ skill: parseReference(reference), catalog }, { http, watch }));
  live.clear();
  const text = `${isNew ? 'Copied' : 'Already there:'} ${reference} (${documents} new documents)`;
  printAnswer(flags.json, { ...mirrored, ...(catalog ? { listed } : {}) }, text);
  if (!flags.json) printListed(flags.catalog, listed);
  return 0;
}
