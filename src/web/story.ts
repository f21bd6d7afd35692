/**
 * Tells the receipt of a call in plain sentences. A receipt has digests of the grant and the parameters; what they stand
 * for is taken from the skill only if its files are still the same, and said to be of today.
 *
 * @module
 */
import { whoIs } from './caller.ts';
import { bytes, day, modeWords, ms, statusText } from './format.ts';
import type { Receipt, SkillPage } from './types.ts';

export interface UsageRow {
  name: string;
  used: string;
  limit: string;
  isExceeded: boolean;
}

export interface Story {
  asked: string[];
  ran: string[];
  granted: string[];
  used: string[];
  denied: string[];
  limits: { rows: UsageRow[]; sentences: string[] };
  ended: string[];
}

const STARTS: Readonly<Record<string, string>> = {
  cold: 'Its process was started for this call.',
  pool: 'Its process was started ahead of the call and had served no other.',
  zygote: 'Its process was forked for this call.',
  warm: 'It was a fresh instance in a process that had served earlier calls.',
};

const WALLS: Readonly<Record<string, string>> = {
  none: 'There was no wall around it.',
  process: 'The wall was a plain process, in which the engine itself isolates the skill.',
  jail: 'The wall was a jail: namespaces, seccomp and control groups.',
  container: 'The wall was a container.',
};

const ORIGINS: Readonly<Record<string, string>> = {
  bundled: 'The skill is shipped with Skillcell',
  project: "The skill is in the project's folder",
  installed: 'The skill was installed',
  external: 'The skill is in a folder outside the project',
  generated: 'The code came with the call',
};

/** `skill`: the skill as it is now, if its files are those of the call. */
export function storyOf(receipt: Receipt, skill: SkillPage | undefined): Story {
  return {
    asked: askedSentences(receipt),
    ran: ranSentences(receipt, skill),
    granted: grantedSentences(receipt, skill),
    used: usedSentences(receipt),
    denied: deniedSentences(receipt),
    limits: limitsOf(receipt, skill),
    ended: endedSentences(receipt),
  };
}

function askedSentences({
  caller,
  skill,
  started_at,
  origin,
  lock,
  params,
  params_digest,
}: Receipt): string[] {
  const where = ORIGINS[origin] ?? `The origin of the skill is "${origin}"`;
  const files =
    lock === 'locked' ? 'its files matched its skill.lock' : 'it had no skill.lock to compare its files with';
  return [
    `${whoIs(caller).subject} called ${skill.name}, version ${skill.version}, on ${day(started_at)}.`,
    `${where}, and ${files}.`,
    params === undefined
      ? `The parameters were not kept. Their digest is ${params_digest}.`
      : 'The parameters were kept; they are in the receipt below.',
  ];
}

function ranSentences({ execution, decision }: Receipt, skill: SkillPage | undefined): string[] {
  const guard =
    decision === undefined
      ? []
      : [`A rule of the operator decided "${decision.decision}"${reasonsText(decision.reasons)}.`];
  if (!execution) return [...guard, 'The call was refused before anything ran.'];
  const { mode, wall, engine, fresh, start, image, packages } = execution;
  const { plan } = skill ?? {};
  const isSame = plan?.mode === mode && plan.wall === wall;
  return [
    ...guard,
    `It ran ${modeWords(mode)} (mode ${mode}), with the engine ${engine}.`,
    WALLS[wall] ?? `The wall was "${wall}".`,
    fresh ? (STARTS[start] ?? '') : 'The process keeps state between calls.',
    isSame
      ? `Why this mode: ${plan.reason}. This is the choice of today, which is the same as then.`
      : 'The receipt does not say why this mode was chosen, and the choice of today differs or is unknown.',
    image === undefined ? '' : `Its image has the digest ${image}.`,
    packages === undefined ? '' : `Its packages have the digest ${packages}.`,
  ].filter(Boolean);
}

function reasonsText(reasons: readonly string[]): string {
  return reasons.length === 0 ? '' : `: ${reasons.join('; ')}`;
}

function grantedSentences({ execution, grant_digest }: Receipt, skill: SkillPage | undefined): string[] {
  if (!execution) return ['Nothing was granted, because nothing ran.'];
  const digest = `The receipt keeps the digest of the grant: ${grant_digest}.`;
  if (!skill?.plan)
    return [digest, 'The skill has changed or is gone since, so its grant cannot be shown here.'];
  const rows = skill.plan.grants.filter(({ capability }) => !capability.startsWith('limit '));
  if (rows.length === 0) return [digest, 'The skill declares no files, hosts or variables, so it got none.'];
  return [
    digest,
    'The files of the skill are the same today. With the policy of today, a call gets:',
    ...rows.map(
      ({ capability, declared, granted }) =>
        `${capability} ${declared}: ${granted === 'no' ? 'not granted' : granted}`,
    ),
  ];
}

function usedSentences({ used, cut, usage, shortened, execution }: Receipt): string[] {
  if (!execution) return [];
  if (shortened) return ['The disk was full, so the list of acts was left out.'];
  const more = cut?.used ?? 0;
  return [
    ...used.map(({ capability, asked }) => `${capability}: ${asked}`),
    more > 0 ? `${more} more acts are not listed.` : '',
    used.length + more === 0 ? 'No act that needs a permission was recorded.' : '',
    usage.host_calls > 0 ? `It made ${usage.host_calls} requests to the host.` : '',
  ].filter(Boolean);
}

function deniedSentences({ denied, denied_count }: Receipt): string[] {
  if (denied_count === 0) return ['Nothing was denied.'];
  const left = denied_count - denied.length;
  return left > 0 ? [`${denied_count} acts were denied; ${left} of them are not listed.`] : [];
}

function limitsOf({ usage, limit, execution }: Receipt, skill: SkillPage | undefined): Story['limits'] {
  if (!execution)
    return { rows: [], sentences: limit === undefined ? [] : [`The limit "${limit}" was exceeded.`] };
  const granted = (name: string): string =>
    skill?.plan?.grants.find(({ capability }) => capability === `limit ${name}`)?.granted ?? '';
  const row = (name: string, label: string, used: string): UsageRow => ({
    name: label,
    used,
    limit: granted(name),
    isExceeded: limit === name,
  });
  const rows = [
    row('timeout', 'Time', ms(usage.wall_ms)),
    row('cpu', 'CPU time', ms(usage.cpu_ms)),
    row(
      'memory',
      'Memory at its peak',
      usage.memory_peak_bytes > 0 ? bytes(usage.memory_peak_bytes) : 'not measured',
    ),
    row('output', 'Output', bytes(usage.output_bytes)),
    ...(usage.fuel > 0 ? [row('fuel', 'Fuel', usage.fuel.toLocaleString())] : []),
  ];
  const isListed = limit === undefined || rows.some(({ isExceeded }) => isExceeded);
  return {
    rows,
    sentences: [
      isListed ? '' : `The limit "${limit}" was exceeded.`,
      skill?.plan
        ? 'The limits are those of a call today; the caller may have lowered them for this one.'
        : '',
    ].filter(Boolean),
  };
}

function endedSentences({ code, limit, message, result, result_digest }: Receipt): string[] {
  const end =
    code === 'ok'
      ? 'The call succeeded.'
      : code === 'cancelled'
        ? 'The caller cancelled the call.'
        : `The call failed: ${statusText(code, limit)}.`;
  const why =
    message ??
    (code === 'ok' ? '' : 'The message was not kept, because it may quote the skill or its parameters.');
  const kept =
    result === undefined ? 'The result was not kept.' : 'The result was kept; it is in the receipt below.';
  return [end, why, result_digest === undefined ? '' : `${kept} Its digest is ${result_digest}.`].filter(
    Boolean,
  );
}
