/**
 * Paths of this machine in the words of a command: those of the workspace and the skill become paths of the cell, all others
 * stay as they are.
 */
import { posix } from 'node:path';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { guestWord, type CommandPlaces } from '../../../src/policy/commands/places.ts';

const PROJECT = '/home/me/project';
const SKILL = `${PROJECT}/.claude/skills/pdf`;
const places: CommandPlaces = { files: {}, skillDirs: [SKILL], workspaceDirs: ['/home/me/link', PROJECT] };
const segment = fc.stringMatching(/^[\w .=-]{1,8}$/).filter((text) => text !== '.' && text !== '..');
const inside = fc.array(segment, { maxLength: 4 }).map((parts) => parts.map((part) => `/${part}`).join(''));
const option = fc.constantFrom('', '--out=', '-o=', 'of=', '--long-name=');

describe('a word of a command', () => {
  it.each([
    [`${PROJECT}/form.pdf`, '/workspace/form.pdf'],
    ['/home/me/link/form.pdf', '/workspace/form.pdf'],
    [PROJECT, '/workspace'],
    [`${PROJECT}/out/`, '/workspace/out/'],
    [`--out=${PROJECT}/a.pdf`, '--out=/workspace/a.pdf'],
    [`${SKILL}/template.docx`, '/skill/template.docx'],
    [`${PROJECT}/.claude/skills/other/x`, '/workspace/.claude/skills/other/x'],
    [`${PROJECT}/a/../b`, '/workspace/b'],
    [`${PROJECT}/../other/x`, `${PROJECT}/../other/x`],
    [`${PROJECT}-2/x`, `${PROJECT}-2/x`],
    ['/etc/hosts', '/etc/hosts'],
    ['/workspace/x', '/workspace/x'],
    ['form.pdf', 'form.pdf'],
    [`see ${PROJECT}/x`, `see ${PROJECT}/x`],
    [`--out ${PROJECT}/x`, `--out ${PROJECT}/x`],
  ])('%j becomes %j', (word, expected) => {
    expect(guestWord(word, places)).toBe(expected);
  });

  it('below the workspace keeps what follows it', () => {
    fc.assert(
      fc.property(option, inside, (before, path) => {
        expect(guestWord(before + PROJECT + path, places)).toBe(`${before}/workspace${path}`);
      }),
    );
  });

  it('below the skill is a path of the bundle, although the skill is inside the workspace', () => {
    fc.assert(
      fc.property(option, inside, (before, path) => {
        expect(guestWord(before + SKILL + path, places)).toBe(`${before}/skill${path}`);
      }),
    );
  });

  it('that leads elsewhere, or is no path, stays as it is', () => {
    const dots = fc
      .array(fc.constantFrom('..', '.', 'home', 'me', 'project', 'x', ''), { maxLength: 8 })
      .map((parts) => `/${parts.join('/')}`);
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          dots,
          dots.map((path) => PROJECT + path),
        ),
        (word) => {
          const value = /^-{0,2}[A-Za-z][\w.-]*=(\/.*)$/s.exec(word)?.[1] ?? word;
          const isBelow = `${posix.normalize(value)}/`.startsWith(`${PROJECT}/`);
          if (!isBelow) expect(guestWord(word, places)).toBe(word);
          else expect(guestWord(word, places)).toMatch(/^(?:[^/]*=)?\/workspace(?:\/|$)/);
        },
      ),
      { numRuns: 2000 },
    );
  });

  it('stays as it is in a call without a workspace, unless it is of the skill', () => {
    const without = { ...places, workspaceDirs: [] };
    expect(guestWord(`${PROJECT}/x`, without)).toBe(`${PROJECT}/x`);
    expect(guestWord(`${SKILL}/x`, without)).toBe('/skill/x');
  });
});
