/**
 * One skill: what it requests in plain words, how it is enforced, its approval, and a form to try it.
 *
 * @module
 */
import { get, send, skillPath } from '../api.ts';
import { h, replace, type Child } from '../dom.ts';
import { day, shortDigest } from '../format.ts';
import { markdownView } from '../markdown-view.ts';
import { badge, button, details, heading, json, panel, problem, problemOf, table } from '../parts.ts';
import { filesTable, scriptsPanel } from '../skill-files.ts';
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
      h('div', 'column', form(skill), instructions(skill), scriptsPanel(skill)),
      h('div', 'column', trust(skill, { isAdmin, reload }), asks(skill), facts(skill)),
    ),
    enforcement(skill),
    manifest(skill),
  );
};

/** A folder of texts for the model has nothing to run. */
function form(skill: SkillPage): HTMLElement {
  if (skill.kind !== 'instructions') return tryForm(skill);
  return panel(
    'Use',
    h('p', {}, 'This skill is a text for the model. Nothing in it runs, so there is nothing to try here.'),
  );
}

function asks({ asks: sentences }: SkillPage): HTMLElement {
  const lines = sentences.map(({ risk, text }) =>
    h('li', {}, h('span', `risk-word risk-${risk}`, risk), h('span', {}, text)),
  );
  return panel('Requested permissions', h('ul', 'sentences', lines));
}

const KIND_WORDS: Readonly<Record<SkillPage['kind'], string>> = {
  function: 'a function: parameters in, a result out',
  script: 'an Agent Skill with scripts',
  instructions: 'an Agent Skill with instructions only',
};

function facts(skill: SkillPage): HTMLElement {
  const { origin, trust: status, profile, lock, digest, plan, mode, files, kind } = skill;
  const rows: [string, Child][] = [
    ['Kind', KIND_WORDS[kind]],
    ['Origin', origin],
    ['Status', status],
    [
      'Needs',
      { local: 'nothing external', networked: 'declared hosts', cloud_only: 'an account' }[profile] ??
        profile,
    ],
    ['Mode', plan ? `${plan.mode}: ${plan.wall} + ${plan.engine}` : (mode ?? 'cannot run on this machine')],
    ['Reason', plan?.reason ?? ''],
    ['Lock', lock],
    ['Digest', h('code', { attrs: { title: digest } }, shortDigest(digest))],
    ['Files', String(files.length)],
  ];
  const filled = rows.filter(([, value]) => value !== '');
  return panel(
    'Details',
    h(
      'dl',
      'pairs',
      filled.flatMap(([name, value]) => [h('dt', {}, name), h('dd', {}, value)]),
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
    none: 'A person must approve this skill before it can be called.',
    changed: 'This skill has changed since it was approved. Review it again.',
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
  if (!isAdmin) return h('p', 'muted', 'Approving requires a token with the scope admin.');
  const result = h('div', {});
  const path = `${skillPath(skill.name)}/approval`;
  const act = (work: Promise<unknown>): void => {
    work.then(reload, (error: unknown) => replace(result, problemOf(error)));
  };
  const approve = button(
    'Approve this version',
    () => confirm(skill, () => act(send('PUT', path, { digest: skill.digest, pins: skill.pins }))),
    'primary',
  );
  const revoke = button('Revoke approval', () => act(send('DELETE', path)), 'danger');
  return h('div', 'actions', skill.approval.state === 'approved' ? revoke : approve, result);
}

/** Shows once more what is being approved. */
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
    h('p', 'muted small', `Applies only to digest ${shortDigest(digest)}. Any change needs a new approval.`),
    h('div', 'actions', yes, button('Not now', close)),
  );
  dialog.addEventListener('close', () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}

function enforcement({ plan }: SkillPage): Child {
  if (!plan) return undefined;
  return panel(
    'Enforcement',
    h(
      'p',
      'muted',
      'Limits marked "nobody" cannot be enforced on this machine; skills that declare them are refused.',
    ),
    table(
      ['Field', 'Enforced by', 'How'],
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
    details('Rest of the manifest', json(skill.manifest)),
    details(`Files (${skill.files.length})`, filesTable(skill)),
    skill.warnings.length > 0 &&
      details(
        `Warnings (${skill.warnings.length})`,
        h(
          'ul',
          {},
          skill.warnings.map((text) => h('li', {}, text)),
        ),
      ),
  );
}

function instructions({ instructions: text, kind }: SkillPage): Child {
  if (text === undefined) return undefined;
  const source = h('pre', { class: 'code prose', attrs: { tabindex: '0' } }, text);
  if (kind === 'function') return panel('Instructions for agents', details('Show', source));
  // An Agent Skills folder is made of its instructions, so they are shown at once.
  return panel('Instructions for agents', markdownView(text), details('Show as plain text', source));
}
