/**
 * The registry: all skills with their capabilities, origin and trust status.
 *
 * @module
 */
import { get } from '../api.ts';
import { h, replace, type Child } from '../dom.ts';
import { badge, empty, heading } from '../parts.ts';
import type { Badge, SkillSummary } from '../types.ts';
import type { View } from '../view.ts';

const MAX_BADGES = 4;

export const skillsView: View = async (page) => {
  const search = h('input', {
    class: 'search',
    attrs: { type: 'search', placeholder: 'Search skills', 'aria-label': 'Search skills' },
  });
  const list = h('ul', 'skill-grid');
  const count = h('p', { class: 'muted', attrs: { role: 'status' } }, 'Loading skills…');
  replace(page, heading('Skills', search), count, list);
  const { skills } = await get<{ skills: SkillSummary[] }>('/v1/skills');
  const show = (): void => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const found = skills.filter((skill) => words.every((word) => textOf(skill).includes(word)));
    count.textContent =
      found.length === skills.length
        ? `${skills.length} skills`
        : `${found.length} of ${skills.length} skills`;
    replace(list, found.length > 0 ? found.map(card) : empty('No skill matches.'));
  };
  search.addEventListener('input', show);
  show();
};

function textOf({ name, about, origin, trust, badges }: SkillSummary): string {
  return [name, about, origin, trust, ...badges.map(({ label }) => label)].join(' ').toLowerCase();
}

/** The first few badges; the page of the skill has all of them. */
function topBadges(badges: readonly Badge[]): Child[] {
  const visible = badges.slice(0, MAX_BADGES).map(badge);
  const rest = badges.length - visible.length;
  return rest > 0 ? [...visible, h('span', 'muted small', `and ${rest} more`)] : visible;
}

function card(skill: SkillSummary): HTMLElement {
  const { name, version, about, origin, trust, mode, badges, problem, lock } = skill;
  const [category = '', short = ''] = name.includes('/') ? name.split('/') : ['', name];
  const broken = version === '' && problem;
  return h(
    'li',
    broken ? 'skill-card broken' : 'skill-card',
    h(
      'a',
      { class: 'skill-link', attrs: { href: `#/skills/${name}` } },
      h('span', 'category', category),
      h('span', 'skill-name', short),
    ),
    h('p', 'about', broken ? problem.message : about),
    h('p', 'badges', topBadges(badges)),
    h(
      'p',
      'foot',
      h('span', {}, origin),
      trust !== '' &&
        h('span', trust.startsWith('needs') || trust.startsWith('denied') ? 'attention' : '', trust),
      h('span', {}, mode ?? 'cannot run here'),
      lock === 'unlocked' && h('span', 'attention', 'unlocked'),
    ),
  );
}
