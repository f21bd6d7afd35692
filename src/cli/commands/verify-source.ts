/**
 * `skillcell verify SOURCE`: checks a published skill without adding it.
 *
 * @module
 */
import {
  assertDemands,
  type Attested,
  openSources,
  printableLine,
  readAttestations,
  receiveDelivery,
  type Runtime,
  SkillError,
} from '../../inside.ts';
import { interruption } from '../interruption.ts';
import { LiveTransfer } from '../live-transfer.ts';
import { printLine, printResult } from '../output.ts';

export async function verifySource(reference: string, runtime: Runtime, json = false): Promise<number> {
  using live = new LiveTransfer();
  const source = openSources({ cwd: process.cwd() })(reference);
  // As for `add`: a source that the policy refuses is not even asked, and what it demands has to be there.
  const demands = runtime.sources.demands(source.parse(reference).source);
  const watch = { onProgress: live.onProgress, signal: interruption() };
  const delivery = await source.fetch(reference, watch);
  live.clear();
  using arrival = await receiveDelivery(delivery, runtime, () => undefined);
  const { bundle, signed, pin } = arrival;
  const attested = await readAttestations(delivery.attachments, {
    lock: bundle.vouched?.lock ?? delivery.files.get('skill.lock'),
    revision: pin.revision,
    publishers: runtime.sources.publishers,
  });
  const { name, version } = bundle.manifest;
  const { publisher } = signed;
  if (publisher !== undefined) await assertDemands(arrival, demands, attested);
  if (json && publisher === undefined) throw unsigned(name, pin.signer);
  if (json) {
    const documents = attested.map(({ kind, type, publisher: by }) => ({ kind, type, publisher: by }));
    const { revision, digest, lock, signer } = pin;
    printResult({
      ok: true,
      name,
      version,
      revision,
      digest,
      lock,
      signer,
      publisher,
      documents,
    });
  } else {
    printLine(
      `good  files and lock of ${printableLine(name)} ${printableLine(version)} agree: ${pin.digest}`,
    );
    printLine(`good  fetched as ${printableLine(pin.revision)}`);
    for (const one of attested) printLine(describe(one));
  }
  if (publisher === undefined) throw unsigned(name, pin.signer);
  if (!json)
    printLine(`${printableLine(name)} ${printableLine(version)} is signed by ${printableLine(publisher)}.`);
  return 0;
}

function describe({ kind, type, publisher, predicate }: Attested): string {
  const what = kind ?? printableLine(type);
  if (publisher === undefined) return `?     ${what}: a claim, which no publisher in the policy signed`;
  const facts = kind === 'study' && predicate ? `: ${studySummary(predicate)}` : '';
  return `good  ${what} signed by ${printableLine(publisher)}${facts}`;
}

/** Signed by a publisher, but still untrusted text for this program. */
function studySummary({ modes }: Record<string, unknown>): string {
  const rows = Array.isArray(modes) ? (modes as unknown[]) : [];
  const texts = rows.slice(0, 10).map((row) => {
    const { mode, status, fitting, cases, denied } = row as Record<string, unknown>;
    const denials = Array.isArray(denied) ? denied.length : 0;
    return `${String(mode)} ${String(status)} (${String(fitting)} of ${String(cases)} cases, ${denials} denials)`;
  });
  return printableLine(texts.join(', '));
}

function unsigned(name: string, signer: unknown): SkillError {
  const reason =
    signer === 'unsigned'
      ? 'it is not signed'
      : 'its signatures are valid, but not by a publisher in the policy';
  return new SkillError('signature_invalid', `Nobody you trust signed "${name}": ${reason}`, {
    fix: 'Get a signed copy from its publisher, or add the publisher to the policy.',
    detail: { skill: name, signer },
  });
}
