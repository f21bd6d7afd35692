/**
 * The result of an observed command of an Agent Skills folder: the overlay that it needs. An overlay is extended, never
 * narrowed, because other commands of the same folder need other things.
 *
 * @module
 */
import { parseDocument } from 'yaml';
import type { Bundle } from '../load/bundle.ts';
import { parseOverlay } from '../load/overlay.ts';
import type { OverlayDraft } from '../load/write-overlay.ts';
import type { Fragment } from '../manifest/fragment.ts';
import type { FilesystemRule } from '../manifest/manifest.ts';
import { WORKSPACE } from '../manifest/places.ts';
import type { Outcome } from '../outcome.ts';
import { SYSTEM_FOLDER } from '../policy/commands/parse.ts';
import { hidesChanges } from '../results/changed-files.ts';
import { leastFor, type Least, type ObservedRule } from './least.ts';
import { readEvents, type Observed } from './observed.ts';
import { assertSeen, type ObservedCall, type Recording } from './recording.ts';
import { unifiedDiff } from './unified-diff.ts';
import { withPermissions } from './write-manifest.ts';

export function makeOverlayRecording(
  bundle: Bundle,
  { outcome, allowed, command }: ObservedCall & { command: readonly string[] },
  draft: OverlayDraft,
): Recording {
  assertSeen(outcome);
  const { fragment } = parseOverlay(draft.text, draft);
  const observed = withFiles(readEvents(outcome.capabilities.used, outcome.capabilities.denied), outcome);
  const succeeded = outcome.ok && exitCodeOf(outcome) === 0;
  const { env, limits } = allowed;
  const { filesystem, programs = [] } = allowed.capabilities;
  const unlisted = outcome.warnings.some(hidesChanges) ? writableOf(filesystem) : [];
  const bounds = { filesystem, env, processes: limits.processes ?? 0, unlisted };
  const least = leastFor(bundle.manifest, observed, { succeeded, allowed: bounds });
  const isLeftOut = succeeded || draft.place === 'home';
  // A report from inside the cell that something was started where nothing could be is invented.
  const hasStarted = bounds.processes > 0 && observed.processes.some(({ denied }) => !denied);
  const granted = isLeftOut ? withoutDenied(least, { isNamed: !succeeded, hasStarted }) : least;
  const needed = withUnseen(granted, bounds);
  const started = programs.filter((name) => name === programOf(command));
  const text = withPrograms(withPermissions(draft.text, addTo(fragment, needed)), [
    ...(fragment.capabilities.programs ?? []),
    ...started,
  ]);
  parseOverlay(text, draft);
  return {
    outcome,
    observed,
    manifest: text,
    diff: unifiedDiff(draft.before, text, draft.file.replace(/^.*\//, '')),
    unused: least.unused,
    remarks: needed.remarks,
    file: draft.file,
    overlay: draft.place,
  };
}

/** `/usr/bin/env /usr/bin/pdftoppm a.pdf` starts pdftoppm. */
function programOf([first = '', second = '']: readonly string[]): string {
  const name = first.replace(SYSTEM_FOLDER, '');
  return name === 'env' ? second.replace(SYSTEM_FOLDER, '') : name;
}

/** The host compares writable folders before and after, which shows writes that no event reports. */
function withFiles(observed: Observed, outcome: Outcome): Observed {
  const files = outcome.ok ? (outcome.result as { files?: unknown }).files : undefined;
  if (!Array.isArray(files)) return observed;
  const written = files.flatMap((one: { path?: unknown }) =>
    typeof one.path === 'string' ? [{ path: one.path, access: 'write' as const, denied: false }] : [],
  );
  return { ...observed, files: [...observed.files, ...written] };
}

function exitCodeOf(outcome: Outcome): unknown {
  return outcome.ok ? (outcome.result as { exit_code?: unknown } | null)?.exit_code : undefined;
}

/**
 * A command that succeeded did not need what it was denied. In Skillcell's own folder an overlay counts at once, so that an
 * untrusted script could permit itself whatever it asks for; a person must allow it first.
 */
function withoutDenied(
  { processes, ...least }: Least,
  { isNamed, hasStarted }: { isNamed: boolean; hasStarted: boolean },
): Least {
  const used = <T>(rules: ObservedRule<T>[]): ObservedRule<T>[] => rules.filter(({ denied }) => !denied);
  const rules = [...least.filesystem, ...least.network, ...Object.values(least.env)];
  const wasDenied = rules.some(({ denied }) => denied) || (processes !== undefined && !hasStarted);
  return {
    ...least,
    ...(processes !== undefined && hasStarted ? { processes } : {}),
    filesystem: used(least.filesystem),
    network: used(least.network),
    env: Object.fromEntries(Object.entries(least.env).filter(([, { denied }]) => !denied)),
    remarks: isNamed && wasDenied ? [...least.remarks, LEFT_OUT] : least.remarks,
  };
}

const LEFT_OUT =
  'What was denied is left out, because this overlay counts as soon as it is written. Allow what the command needs, such as with --allow-network, and record it again.';

interface Bounds {
  env: Fragment['env'];
  processes: number;
  /** Writable paths in which changes may have been missed. */
  unlisted: readonly FilesystemRule[];
}

function writableOf(rules: readonly FilesystemRule[]): FilesystemRule[] {
  return rules.filter(({ access }) => access === 'read-write');
}

/** No event shows that a native program reads a variable or starts another, so what was allowed counts as needed. */
function withUnseen(least: Least, { env, processes, unlisted }: Bounds): Least {
  const names = Object.keys(env).filter((name) => !Object.hasOwn(least.env, name) && !env[name]?.secret);
  const unseen = names.map((name) => [
    name,
    { rule: { required: false, secret: false, hosts: [] }, denied: false },
  ]);
  const isUnseen = processes > 0 && least.processes === undefined;
  const isKnown = ({ path }: FilesystemRule): boolean =>
    least.filesystem.some(({ rule }) => rule.path === path && rule.access === 'read-write');
  const folders = unlisted.filter((rule) => !isKnown(rule));
  const kept = [
    ...names.map((name) => `--allow-env ${name}`),
    ...(isUnseen ? ['--allow-processes'] : []),
    ...folders.map(({ path }) => `--allow-write ${path}`),
  ];
  return {
    ...least,
    filesystem: [...least.filesystem, ...folders.map((rule) => ({ rule, denied: false }))],
    env: { ...least.env, ...(Object.fromEntries(unseen) as Least['env']) },
    ...(isUnseen ? { processes } : {}),
    remarks: kept.length === 0 ? least.remarks : [...least.remarks, keptUnseen(kept)],
  };
}

function keptUnseen(kept: readonly string[]): string {
  return `Kept because you allowed it; whether the command used it cannot be seen: ${kept.join(', ')}.`;
}

/** Reading the workspace needs no rule: the call that names a workspace gives that. */
function addTo({ capabilities, env, limits }: Fragment, needed: Least): Least {
  const own = <T>(rule: T): ObservedRule<T> => ({ rule, denied: false });
  const filesystem = (capabilities.filesystem ?? []).map(own);
  const network = (capabilities.network ?? []).map(own);
  const isImplied = (path: string, access: string): boolean =>
    access === 'read' && path.startsWith(WORKSPACE);
  const added = needed.filesystem.filter(
    ({ rule }) =>
      !isImplied(rule.path, rule.access) &&
      !filesystem.some((known) => known.rule.path === rule.path && known.rule.access === 'read-write'),
  );
  const replaced = new Set(added.map(({ rule }) => rule.path));
  const isKnown = (rule: unknown): boolean =>
    network.some((known) => JSON.stringify(known.rule) === JSON.stringify(rule));
  const processes = Math.max(limits.processes ?? 0, needed.processes ?? 0);
  return {
    ...needed,
    filesystem: [...filesystem.filter(({ rule }) => !replaced.has(rule.path)), ...added],
    network: [...network, ...needed.network.filter(({ rule }) => !isKnown(rule))],
    env: {
      ...needed.env,
      ...Object.fromEntries(Object.entries(env).map(([name, rule]) => [name, own(rule)] as const)),
    },
    ...(processes > 0 ? { processes } : {}),
  };
}

function withPrograms(text: string, programs: readonly string[]): string {
  const document = parseDocument(text, { version: '1.2', schema: 'core' });
  const names = [...new Set(programs)];
  if (names.length > 0) document.setIn(['capabilities', 'programs'], names);
  const written = document.toJS() as { capabilities?: object | null };
  const isEmpty = Object.keys(written.capabilities ?? {}).length === 0;
  if (names.length === 0 && (!isEmpty || !('capabilities' in written))) return text;
  if (isEmpty) document.delete('capabilities');
  return document.toString({ lineWidth: 0 });
}
