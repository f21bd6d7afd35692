/**
 * One call, told from its receipt in plain sentences, with the receipt itself below.
 *
 * @module
 */
import { ApiError, get, skillPath } from '../api.ts';
import { whoIs } from '../caller.ts';
import { h, replace, type Child } from '../dom.ts';
import { day, ms } from '../format.ts';
import { treePanel } from '../call-tree.ts';
import { denials, details, heading, json, panel, statusPill, table } from '../parts.ts';
import { storyOf, type Story } from '../story.ts';
import type { Receipt, SkillPage, StoredReceipt } from '../types.ts';
import type { View } from '../view.ts';
import { verifyButton } from './audit.ts';

export const callView: View = async (page, { argument }) => {
  const stored = await get<StoredReceipt>(`/v1/receipts/${encodeURIComponent(argument)}`);
  const { receipt } = stored;
  const story = storyOf(receipt, await sameSkill(receipt));
  const tree = await treePanel(receipt);
  replace(
    page,
    heading(`Call of ${receipt.skill.name}`, h('a', { attrs: { href: '#/audit' } }, 'All receipts')),
    summary(receipt),
    panel('What was asked', sentences(story.asked), skillLink(receipt)),
    tree,
    panel('Where it ran', sentences(story.ran)),
    panel('What it was granted', sentences(story.granted)),
    receipt.execution && panel('What it used', sentences(story.used)),
    panel('What was denied', sentences(story.denied), denials(receipt.denied)),
    limits(story.limits),
    panel('How it ended', sentences(story.ended)),
    verification(stored),
    details('Receipt as JSON', json(stored)),
  );
};

/** The skill as it is now, if its files are still those of the call. */
async function sameSkill({ skill }: Receipt): Promise<SkillPage | undefined> {
  try {
    const found = await get<SkillPage>(skillPath(skill.name));
    return found.digest === skill.digest ? found : undefined;
  } catch (error) {
    // It may be gone or broken by now; the receipt is still worth reading.
    if (error instanceof ApiError && error.status !== 401) return undefined;
    throw error;
  }
}

function summary({ code, limit, started_at, caller, denied_count, usage }: Receipt): HTMLElement {
  const { name, tenant } = whoIs(caller);
  return h(
    'p',
    'facts',
    statusPill(code, limit),
    denied_count > 0 && code !== 'capability_denied' && h('span', 'pill bad', `${denied_count} denied`),
    h('span', {}, day(started_at)),
    h('span', {}, tenant === undefined ? name : `${name} of ${tenant}`),
    h('span', {}, ms(usage.wall_ms)),
  );
}

/** Texts of receipts can quote a skill, so they stay text. */
function sentences(texts: readonly string[]): Child {
  return texts.map((text) => h('p', 'story', text));
}

function skillLink({ skill }: Receipt): HTMLElement {
  const href = `#/skills/${skill.name.split('/').map(encodeURIComponent).join('/')}`;
  return h(
    'p',
    'small',
    h('a', { attrs: { href } }, 'Open the skill'),
    ' ',
    h('code', 'muted break', skill.digest),
  );
}

function limits({ rows, sentences: texts }: Story['limits']): Child {
  if (rows.length === 0 && texts.length === 0) return undefined;
  const cells = rows.map(({ name, used, limit, isExceeded }) => [
    name,
    used,
    limit === '' ? 'unknown' : limit,
    isExceeded ? h('span', 'pill bad', 'exceeded') : 'within',
  ]);
  return panel(
    'Limits and usage',
    rows.length > 0 && table(['Resource', 'Used', 'Limit', 'Verdict'], cells),
    sentences(texts),
  );
}

function verification({ receipt, seq, hash }: StoredReceipt): HTMLElement {
  const command = (text: string): HTMLElement => h('code', 'break', text);
  if (seq === undefined || hash === undefined)
    return panel(
      'How to verify this receipt',
      sentences([
        'Every receipt is hashed together with the one before it, so that none can be changed or removed unnoticed.',
        'The hash and the position are for admins only, because they depend on the calls of other tenants.',
      ]),
      h(
        'p',
        'story',
        'Ask the operator to run ',
        command('skillcell audit verify'),
        ' and ',
        command(`skillcell audit show ${receipt.call_id}`),
        '.',
      ),
    );
  return panel(
    'How to verify this receipt',
    sentences([
      `It is number ${seq} in the log, and is hashed together with the one before it.`,
      'Verifying recomputes every hash. To also notice a log that was cut off or rebuilt, keep a hash elsewhere and compare it.',
    ]),
    h('p', 'story', 'Its hash: ', command(hash)),
    h('p', 'story', 'On the machine of the service: ', command(`skillcell audit verify --head ${hash}`)),
    h('div', 'actions', verifyButton()),
  );
}
