/**
 * One skill: what it asks for in plain words, what is enforced by what, the word of an admin, and a form to try it.
 *
 * @module
 */
import { get, send, skillPath } from '../api.ts';
import { h, replace, type Child } from '../dom.ts';
import { day, shortDigest } from '../format.ts';
import { badge, button, details, heading, json, panel, problem, problemOf, table } from '../parts.ts';
import { tryForm } from '../try-form.ts';
import type { SkillPage } from '../types.ts';
import type { View } from '../view.ts';

export const skillView: View = async (page, context) => {
  const { argument, identity } = context;
  const skill = await get<SkillPage>(skillPath(argument));
  const reload = (): void => {
    Promise.resolve(skillView(page, context)).catch((error: unknown) => replace(page, problemOf(error)));
  };
  const isAdmin = identity.scopes.includes('admin');
  replace(
    page,
    heading(skill.name, h('span', 'muted', `version ${skill.version}`)),
    h('p', 'lead', skill.description),
    h('p', 'badges', skill.badges.map(badge)),
    skill.problem && problem(skill.problem),
    h(
      'div',
      'columns',
      h('div', 'column', tryForm(skill), instructions(skill)),
      h('div', 'column', trust(skill, { isAdmin, reload }), asks(skill), facts(skill)),
    ),
    enforced(skill),
    manifest(skill),
  );
};

function asks({ asks: sentences }: SkillPage): HTMLElement {
  const lines = sentences.map(({ risk, text }) =>
    h('li', {}, h('span', `risk-word risk-${risk}`, risk), h('span', {}, text)),
  );
  return panel('What it asks for', h('ul', 'sentences', lines));
}

function facts({
  origin,
  trust: standing,
  profile,
  lock,
  digest,
  plan,
  mode,
  files,
}: SkillPage): HTMLElement {
  const rows: [string, Child][] = [
    ['Comes from', origin],
    ['Standing', standing],
    [
      'Needs',
      { local: 'nothing outside', networked: 'hosts it declares', cloud_only: 'an account' }[profile] ??
        profile,
    ],
    ['Runs as', plan ? `${plan.mode}: ${plan.wall} + ${plan.engine}` : (mode ?? 'not on this machine')],
    ['Why', plan?.reason ?? ''],
    ['Lock', lock],
    ['Digest', h('code', { attrs: { title: digest } }, shortDigest(digest))],
    ['Files', String(files.length)],
  ];
  const shown = rows.filter(([, value]) => value !== '');
  return panel(
    'Facts',
    h(
      'dl',
      'pairs',
      shown.flatMap(([name, value]) => [h('dt', {}, name), h('dd', {}, value)]),
    ),
  );
}

interface TrustOptions {
  isAdmin: boolean;
  reload: () => void;
}

function trust(skill: SkillPage, { isAdmin, reload }: TrustOptions): Child {
  const { decision, state, by, at, diff } = skill.approval;
  if (decision === 'allow' && state === 'none') return undefined;
  const words: Record<string, string> = {
    approved: `Approved by ${by ?? ''} on ${at === undefined ? '' : day(at)}.`,
    none: 'A person has to approve it before it can be called.',
    changed: 'It changed since it was approved, and has to be looked at again.',
  };
  return panel(
    'Approval',
    h('p', {}, decision === 'deny' ? 'The policy denies this skill.' : (words[state] ?? state)),
    diff &&
      diff.length > 0 &&
      h(
        'ul',
        'diff',
        diff.map((line) => h('li', {}, line)),
      ),
    decision === 'deny' ? undefined : actions(skill, { isAdmin, reload }),
  );
}

function actions(skill: SkillPage, { isAdmin, reload }: TrustOptions): HTMLElement {
  if (!isAdmin) return h('p', 'muted', 'That needs a token with the scope admin.');
  const result = h('div', {});
  const path = `${skillPath(skill.name)}/approval`;
  const act = (work: Promise<unknown>): void => {
    work.then(reload, (error: unknown) => replace(result, problemOf(error)));
  };
  const approve = button(
    'Approve exactly this',
    () => confirm(skill, () => act(send('PUT', path, { digest: skill.digest, pins: skill.pins }))),
    'primary',
  );
  const revoke = button('Take approval back', () => act(send('DELETE', path)), 'danger');
  return h('div', 'actions', skill.approval.state === 'approved' ? revoke : approve, result);
}

/** Says once more what is being approved. */
function confirm({ name, asks: sentences, digest }: SkillPage, onYes: () => void): void {
  const close = (): void => dialog.close();
  const yes = button(
    'Approve',
    () => {
      close();
      onYes();
    },
    'primary',
  );
  const dialog = h(
    'dialog',
    { class: 'dialog', attrs: { 'aria-labelledby': 'dialog-title' } },
    h('h2', { attrs: { id: 'dialog-title' } }, `Approve ${name}?`),
    h(
      'ul',
      'sentences',
      sentences.map(({ risk, text }) =>
        h('li', {}, h('span', `risk-word risk-${risk}`, risk), h('span', {}, text)),
      ),
    ),
    h('p', 'muted small', `Exactly this one: ${shortDigest(digest)}. Any change of it asks again.`),
    h('div', 'actions', yes, button('Not now', close)),
  );
  dialog.addEventListener('close', () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}

function enforced({ plan }: SkillPage): Child {
  if (!plan) return undefined;
  return panel(
    'Enforced here',
    h('p', 'muted', 'What nobody enforces here, no skill is granted: one that declares it is refused.'),
    table(
      ['What', 'By', 'How'],
      plan.enforces.map(({ field, by, how }) => [h('code', {}, field), h('span', `by by-${by}`, by), how]),
    ),
    details(
      'Declared, allowed, granted',
      table(
        ['Capability', 'Declared', 'Policy', 'Granted'],
        plan.grants.map(({ capability, declared, policy, granted }) => [
          capability,
          declared,
          policy,
          granted,
        ]),
      ),
    ),
  );
}

function manifest(skill: SkillPage): HTMLElement {
  return panel(
    'Manifest',
    h(
      'ul',
      'plain mono',
      skill.declares.map((line) => h('li', {}, line)),
    ),
    details('Parameters (JSON Schema)', json(skill.parameters)),
    details('The rest of the manifest', json(skill.manifest)),
    details(
      `Files (${skill.files.length})`,
      h(
        'ul',
        'plain mono',
        skill.files.map((file) => h('li', {}, file)),
      ),
    ),
    skill.warnings.length > 0 &&
      details(
        `Remarks (${skill.warnings.length})`,
        h(
          'ul',
          {},
          skill.warnings.map((text) => h('li', {}, text)),
        ),
      ),
  );
}

function instructions({ instructions: text }: SkillPage): Child {
  return text === undefined
    ? undefined
    : panel('Instructions for agents', details('Show', h('pre', 'code prose', text)));
}
