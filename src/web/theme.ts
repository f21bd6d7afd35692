/**
 * Colour theme: light, dark, or that of the system.
 *
 * @module
 */
const KEY = 'skillcell-theme';
const THEMES = ['auto', 'light', 'dark'] as const;

type Theme = (typeof THEMES)[number];

export function currentTheme(): Theme {
  return THEMES.find((theme) => theme === localStorage.getItem(KEY)) ?? 'auto';
}

export function applyTheme(theme: Theme = currentTheme()): void {
  document.documentElement.dataset['theme'] = theme;
}

/** Switches to the next theme and returns it. */
export function switchTheme(): Theme {
  const next = THEMES[(THEMES.indexOf(currentTheme()) + 1) % THEMES.length] ?? 'auto';
  localStorage.setItem(KEY, next);
  applyTheme(next);
  return next;
}
