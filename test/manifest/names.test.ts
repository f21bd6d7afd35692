import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { envNameProblem, requirementProblem, skillNameProblem } from '../../src/manifest/names.ts';
import { words } from '../words.ts';

describe('the check of skill names', () => {
  it.each(['finance/wallet_screening', 'a/b', 'dev-tools/x1'])('accepts %s', (name) => {
    expect(skillNameProblem(name)).toBeUndefined();
  });
  it.each([
    '',
    'wallet',
    'a/b/c',
    '/b',
    'a/',
    'A/b',
    'a/b c',
    '../b',
    'a/..',
    'a/.',
    'a/b\n',
    'a/b\0',
    '_a/b',
    'a/-b',
    'a/b_',
    'finance/wаllet', // Cyrillic а
    'finance/ｗallet', // full-width w
    'finance/wallet\u200b',
    `a/${'b'.repeat(65)}`,
  ])('refuses %j', (name) => {
    expect(skillNameProblem(name)).toBeTypeOf('string');
  });
  it('accepts ASCII only', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.string({ unit: 'grapheme' }), (category, name) => {
        const text = `${category}/${name}`;
        if (skillNameProblem(text) === undefined) expect(text).toMatch(/^[a-z0-9_/-]+$/);
      }),
    );
  });
});

describe('the check of environment names', () => {
  it.each(['ETHERSCAN_API_KEY', 'GITHUB_TOKEN', 'GMAIL_ADDRESS', '_x', 'a1', 'OPENAI_API_KEY'])(
    'accepts %s',
    (name) => {
      expect(envNameProblem(name)).toBeUndefined();
    },
  );
  it.each([
    'LD_PRELOAD',
    'LD_LIBRARY_PATH',
    'PYTHONPATH',
    'PYTHONSTARTUP',
    'NODE_OPTIONS',
    'BASH_ENV',
    'ENV',
    'IFS',
    'PATH',

    'HOME',
    'TMPDIR',
    'SKILLCELL_SOCKET',
    'https_proxy',
    'HTTP_PROXY',
    'BASH_FUNC_x',
    'ld_preload',
    'SSL_CERT_FILE',
    '',
    '1A',
    'A-B',
    'A=B',
    'A B',
    'A\0',
    'A\n',
    'Ä',
    'BASH_FUNC_x%%',
  ])('refuses %j', (name) => {
    expect(envNameProblem(name)).toBeTypeOf('string');
  });
});

describe('the check of requirements', () => {
  it.each([
    ...words('requests web3>=6.0.0 a[b,c]~=1.0,!=1.1 google-genai'),
    'rembg >=2.0.0',
    'x; python_version < "3.12"',
  ])('accepts %s', (requirement) => {
    expect(requirementProblem(requirement)).toBeUndefined();
  });
  it.each([
    '',
    '--index-url=x',
    '-r file',
    'a @ file:///x',
    'git+ssh://x',
    './a',
    '/a',
    'a\nb',
    'a; x\n--y',
    'a==1 --hash=x',
    'a -r b',
  ])('refuses %j', (requirement) => {
    expect(requirementProblem(requirement)).toBeTypeOf('string');
  });
});
