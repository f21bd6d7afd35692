import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { commandOf, pairsOf, parseDockerfile, wordsOf } from '../../../src/build/container/dockerfile.ts';
import { words } from '../../words.ts';

describe('a Dockerfile', () => {
  it('is parsed with comments, continued lines and any case', () => {
    const text =
      '# first\nfrom localhost/a\r\n\n  # within\nENV A=1 \\\n  # still\n  B=2\ncmd ["x"]\nLABEL a=b \\';
    expect(parseDockerfile(text)).toEqual({
      instructions: [
        { line: 2, name: 'FROM', rest: 'localhost/a' },
        { line: 5, name: 'ENV', rest: 'A=1 B=2' },
        { line: 8, name: 'CMD', rest: '["x"]' },
        { line: 9, name: 'LABEL', rest: 'a=b' },
      ],
    });
  });

  it.each([
    ['RUN true', 'RUN in line 2'],
    ['ADD a b', 'ADD in line 2'],
    ['ARG x', 'ARG in line 2'],
    ['FROM localhost/b', 'FROM in line 2'],
    ['COPY --from=build a b', 'COPY in line 2'],
    ['COPY --chown=app a b', 'COPY in line 2'],
    ['COPY *.py /', 'COPY in line 2'],
    ['COPY ["a?", "/"]', 'COPY in line 2'],
    ['COPY <<EOF /x', 'COPY in line 2'],
    ['ENV A=$B', 'ENV in line 2'],
    ['WORKDIR $HOME', 'WORKDIR in line 2'],
    ['ENV A=b\\ c', 'ENV in line 2'],
    ['# escape=`', 'the directive "escape"'],
    ['HEALTHCHECK NONE', 'HEALTHCHECK in line 2'],
  ])('with %s needs an engine, and the reason is reported', (line, why) => {
    expect(parseDockerfile(`FROM localhost/a\n${line}`).needsEngine).toBe(why);
  });

  it.each([
    'FROM --platform=x localhost/a',
    'FROM localhost/a AS b',
    'FROM $BASE',
    'FROM scratch',
    'COPY a b',
  ])('that begins with %s needs an engine', (line) => {
    expect(parseDockerfile(line).needsEngine).toContain('in line 1');
  });

  it.each([
    'COPY a b /c/',
    'COPY ["a b", "/c"]',
    'COPY --chown=1000:1000 --chmod=755 a /b',
    'ENTRYPOINT ["sh", "-c", "echo $HOME"]',
    'CMD echo $HOME',
    'USER app',
  ])('with %s needs no engine', (line) => {
    expect(parseDockerfile(`FROM localhost/a\n${line}`).needsEngine).toBeUndefined();
  });

  it('can always be parsed, whatever it contains', () => {
    const unit = fc.constantFrom(...words('RUN # " [ ] = a $'), 'FROM ', 'COPY ', '\n', '\\', ' ', '\r');
    fc.assert(
      fc.property(fc.string({ unit, maxLength: 40 }), (text) => {
        const { instructions } = parseDockerfile(text);
        for (const { name, line } of instructions) {
          expect(name).not.toMatch(/\s/);
          expect(line).toBeGreaterThan(0);
        }
      }),
    );
  });
});

it('words are split, and a JSON list is read as a list', () => {
  expect(wordsOf('a  b\tc')).toEqual(['a', 'b', 'c']);
  expect(wordsOf('["a b", "c"]')).toEqual(['a b', 'c']);
  expect(wordsOf('[1]')).toEqual(['[1]']);
  expect(commandOf('["a", "b c"]')).toEqual(['a', 'b c']);
  expect(commandOf('a "b c"')).toEqual(['/bin/sh', '-c', 'a "b c"']);
});

it('variables are expanded in both forms', () => {
  expect(pairsOf('A=1 B="two words" C=\'x y\' D=')).toEqual([
    ['A', '1'],
    ['B', 'two words'],
    ['C', 'x y'],
    ['D', ''],
  ]);
  expect(pairsOf('A one value = more')).toEqual([['A', 'one value = more']]);
});
