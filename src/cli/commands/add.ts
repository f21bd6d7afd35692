/**
 * `skillcell add`, `skillcell update`, `skillcell outdated` and `skillcell remove`
 *
 * @module
 */
import {
  type Allowances,
  type Delivery,
  type OpenSource,
  type PinPlace,
  type SkillProposal,
  type Staleness,
  type UnknownStaleness,
  type Runtime,
  SkillError,
  acceptProposal,
  changePins,
  describeProposal,
  fetchUpdate,
  isAllowedByPolicy,
  isKnownHere,
  openSources,
  outdated as outdatedPins,
  pinNamed,
  pinsOf,
  printableLine,
  propose,
  selectPins,
  shellWord,
  staleness,
} from '../../inside.ts';
import { describeArrival } from '../describe-proposal.ts';
import { interruption } from '../interruption.ts';
import { LiveTransfer } from '../live-transfer.ts';
import { openRuntime } from '../open-runtime.ts';
import { printAnswer, printLine, printNote, printResult, table } from '../output.ts';
import { confirmed, ownName } from '../person.ts';

export interface AddFlags {
  yes?: boolean;
  global?: boolean;
  policy?: string;
  json?: boolean;
  /** Names of skills. */
  allowDowngrade?: string[];
  allowMoved?: string[];
  newSigner?: string[];
}

interface Session {
  runtime: Runtime;
  place: PinPlace;
  open: OpenSource;
  flags: AddFlags;
  live: LiveTransfer;
  signal: AbortSignal;
}

type Result = 'added' | 'unchanged' | 'declined';

export async function add(references: readonly string[], flags: AddFlags = {}): Promise<number> {
  await using runtime = openRuntime(flags);
  using live = new LiveTransfer();
  const session = sessionOf(runtime, live, flags);
  const results: object[] = [];
  let isDeclined = false;
  for (const reference of references) {
    const source = session.open(reference);
    // A source that the policy refuses is not even asked.
    runtime.sources.demands(source.parse(reference).source);
    const delivery = await source.fetch(reference, watchOf(session));
    const { result, answer } = await settle(delivery, session);
    isDeclined ||= result === 'declined';
    results.push(answer);
  }
  if (flags.json) printResult({ ok: !isDeclined, skills: results });
  return isDeclined ? 5 : 0;
}

export async function update(names: readonly string[], flags: AddFlags = {}): Promise<number> {
  await using runtime = openRuntime(flags);
  using live = new LiveTransfer();
  const session = sessionOf(runtime, live, flags);
  const pins = selectPins(pinsOf(session.place), names);
  const results: object[] = [];
  let isDeclined = false;
  for (const [id, pin] of pins) {
    runtime.sources.demands(pin.source);
    const found = await staleness(id, pin, session.open);
    if (found.newer !== undefined && (found.isBroken || found.isGone))
      printNote(printableLine(`warning: ${id} ${pin.tag ?? ''}: ${moveOf(found).toLowerCase()}`));
    const delivery = await fetchUpdate(found, session.open, watchOf(session));
    live.clear();
    if (!delivery) {
      results.push({ name: id, result: 'unchanged', version: pin.version });
      if (!flags.json) printLine(`${id} ${printableLine(pin.version)} is the newest.`);
      continue;
    }
    const { result, answer } = await settle(delivery, session, id);
    isDeclined ||= result === 'declined';
    results.push(answer);
  }
  if (flags.json) printResult({ ok: !isDeclined, skills: results });
  return isDeclined ? 5 : 0;
}

/** Lists skills that are newer, or that somebody moved or removed. Exits with 1 if a source does not answer. */
export async function outdated(flags: AddFlags = {}): Promise<number> {
  await using runtime = openRuntime(flags);
  using live = new LiveTransfer();
  const { place, open } = sessionOf(runtime, live, flags);
  const pins = pinsOf(place);
  for (const { source } of pins.values()) runtime.sources.demands(source);
  const found = await outdatedPins(pins, open);
  const failed = found.flatMap((one) => ('error' in one ? [one] : []));
  const stale = found
    .flatMap((one) => ('error' in one ? [] : [one]))
    .filter(({ newer, movedTo, isGone }) => newer !== undefined || movedTo !== undefined || isGone);
  if (flags.json) {
    const errors = failed.map(({ id, error }) => ({ name: id, code: error.code, message: error.message }));
    printResult({
      ok: failed.length === 0,
      skills: stale.map(outdatedRow),
      ...(errors.length > 0 ? { errors } : {}),
    });
  } else printOutdated(stale, failed);
  return failed.length === 0 ? 0 : 1;
}

function outdatedRow({ id, pin, newer, movedTo, isBroken, isGone }: Staleness): object {
  const { version, source, revision } = pin;
  return { name: id, version, source, revision, newer, movedTo, moved: isBroken, removed: isGone };
}

function printOutdated(stale: readonly Staleness[], failed: readonly UnknownStaleness[]): void {
  for (const { id, error } of failed) printNote(printableLine(`${id}: ${error.message}`));
  if (stale.length > 0)
    printLine(
      table([
        ['SKILL', 'PINNED', 'NEWER', 'MOVED'],
        ...stale.map((one) => [one.id, one.pin.tag ?? one.pin.version, one.newer ?? '-', moveOf(one)]),
      ]),
    );
  else if (failed.length === 0) printNote('Everything is at its newest version.');
}

function moveOf({ movedTo, isBroken, isGone }: Staleness): string {
  if (isGone) return 'SOMEBODY REMOVED THIS VERSION';
  if (movedTo === undefined) return '-';
  return isBroken ? 'SOMEBODY MOVED THIS VERSION' : 'yes';
}

/** Its bytes stay in the store until `prune`, because another project may use them. */
export async function remove(name: string, flags: AddFlags = {}): Promise<number> {
  await using runtime = openRuntime({ needsPolicy: false });
  const place = placeOf(runtime, flags);
  let removed = pinNamed(pinsOf(place), name);
  await changePins(place, (pins) => {
    removed = pinNamed(pins, name);
    pins.delete(name);
  });
  const { version, source, digest } = removed;
  const text = `Removed ${printableLine(`${name} ${version}`)}. Its files stay until you run \`skillcell prune\`.`;
  printAnswer(flags.json, { name, version, source, digest }, text);
  return 0;
}

function placeOf({ home, sources }: Runtime, { global = false }: AddFlags): PinPlace {
  return { home, cwd: sources.cwd, global };
}

function sessionOf(runtime: Runtime, live: LiveTransfer, flags: AddFlags): Session {
  const place = placeOf(runtime, flags);
  return {
    runtime,
    place,
    flags,
    live,
    open: openSources({ cwd: runtime.sources.cwd }),
    signal: interruption(),
  };
}

function watchOf({ live, signal }: Session): { onProgress: LiveTransfer['onProgress']; signal: AbortSignal } {
  return { onProgress: live.onProgress, signal };
}

/** Shows what arrived, has a person decide, and keeps it if they agree. */
async function settle(
  delivery: Delivery,
  session: Session,
  expected?: string,
): Promise<{ result: Result; answer: object }> {
  const { runtime, place, flags, live, signal } = session;
  const allow = (id: string): Allowances => allowancesOf(id, flags);
  signal.throwIfAborted();
  using proposal = await propose(delivery, { runtime, place, allow, expected });
  live.clear();
  if (signal.aborted) throw cancelled();
  const description = describeProposal(proposal);
  const isKnown = isKnownHere(proposal, place);
  // Nobody is asked about something that was not shown.
  if (!flags.json || !(flags.yes || isKnown)) printNote(describeArrival(description));
  const result = isKnown ? 'unchanged' : (await agrees(proposal, session)) ? 'added' : 'declined';
  if (signal.aborted) throw cancelled();
  // Also for what is pinned already: its bytes may not be here, or come from a clone.
  if (result !== 'declined') await acceptProposal(proposal, place, ownName());
  const { id, arrival, change } = proposal;
  const { pin } = arrival;
  if (!flags.json) {
    printOutcome(`${id} ${pin.version}`, result, place);
    if (result !== 'declined') printNote(`See what it may do: skillcell inspect ${shellWord(id)}`);
  }
  const { warnings, asks, facts } = description;
  const said = { requests: asks, facts: Object.fromEntries(facts), warnings };
  return { result, answer: { name: id, result, ...pin, changes: change.capabilities, ...said } };
}

function printOutcome(skill: string, result: Result, { global = false }: PinPlace): void {
  if (result === 'declined') return printNote(`Not added: ${printableLine(skill)}. Nothing of it stays.`);
  const where = global ? 'for you, in every folder' : 'in skills.lock.json';
  const what = result === 'unchanged' ? 'is pinned already' : 'is pinned now';
  printLine(`${printableLine(skill)} ${what} ${where}.`);
}

/** `--yes` counts only where the operator said so: otherwise an agent could confirm for a person. */
async function agrees(proposal: SkillProposal, { flags, signal }: Session): Promise<boolean> {
  if (flags.yes && isAllowedByPolicy(proposal)) return true;
  if (flags.yes) throw needsPerson(proposal, true);
  const answer = await ask(`${proposal.before ? 'Update' : 'Add'} ${proposal.id}? [y/N] `, signal);
  if (answer === undefined) throw needsPerson(proposal, false);
  return answer;
}

async function ask(question: string, signal: AbortSignal): Promise<boolean | undefined> {
  try {
    return await confirmed(question, signal);
  } catch (error) {
    // Ctrl-C at the question.
    if (error instanceof Error && error.name === 'AbortError') throw cancelled();
    throw error;
  }
}

function allowancesOf(
  id: string,
  { allowDowngrade = [], allowMoved = [], newSigner = [] }: AddFlags,
): Allowances {
  return {
    downgrade: allowDowngrade.includes(id),
    moved: allowMoved.includes(id),
    signer: newSigner.includes(id),
  };
}

function needsPerson({ id, demands, change, before }: SkillProposal, saidYes: boolean): SkillError {
  const why = !saidYes
    ? 'input or output is not a terminal'
    : change.signerBefore !== undefined
      ? '--yes never accepts another signer'
      : before !== undefined && change.wantsMore
        ? '--yes never accepts more capabilities'
        : demands.length === 0
          ? '--yes counts only for sources that the operator policy allows, and it has no rules for sources'
          : 'the policy does not allow it';
  return new SkillError('approval_required', `A person must confirm "${id}": ${why}`, {
    fix: saidYes
      ? 'Run the command on a terminal without --yes, or have the operator allow the source under "sources" in the policy.'
      : 'Run the command on a terminal, or with --yes where the operator policy allows the source.',
    detail: { skill: id, changes: change.capabilities },
  });
}

function cancelled(): SkillError {
  return new SkillError('cancelled', 'Interrupted. Nothing was added.', { fix: 'Run the command again.' });
}
