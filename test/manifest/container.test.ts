import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  containerUserProblem,
  formatImageReference,
  imageProblem,
  parseImageReference,
} from '../../src/manifest/container.ts';
import { parseManifest } from '../../src/manifest/parse.ts';
import { errorOf } from '../load/helpers.ts';
import { words } from '../words.ts';

const DIGEST = `sha256:${'a1'.repeat(32)}`;

describe('parseImageReference', () => {
  it.each([
    ['localhost/skill', { name: 'localhost/skill' }],
    ['localhost/skill:1', { name: 'localhost/skill', tag: '1' }],
    ['localhost:5000/a/b__c:V1.0', { name: 'localhost:5000/a/b__c', tag: 'V1.0' }],
    ['registry.example.com/a-b/c', { name: 'registry.example.com/a-b/c' }],
    [`localhost/skill@${DIGEST}`, { name: 'localhost/skill', digest: DIGEST }],
    [`localhost/skill:1@${DIGEST}`, { name: 'localhost/skill', tag: '1', digest: DIGEST }],
  ])('accepts %s', (text, parts) => {
    expect(parseImageReference(text)).toEqual(parts);
    expect(imageProblem(text)).toBeUndefined();
  });

  it.each([
    ...words(
      'a /a localhost/ localhost//a localhost/A localhost/a: localhost/a:-x -v/:/x --privileged/a',
      'localhost/../a localhost/a@sha256:1 localhost/a:1:2 LOCALHOST/a oci:/etc/x',
      'docker-archive:/etc/x ex_ample.com/a localhost/a/. localhost/ü',
    ),
    '',
    'localhost/a b',
    'localhost/a\n',
    `localhost/a@sha512:${'a'.repeat(128)}`,
    `localhost/a@${DIGEST}@${DIGEST}`,
    `localhost/a@${DIGEST.toUpperCase()}`,
    `localhost/${'a'.repeat(300)}`,
    `localhost/a:${'t'.repeat(129)}`,
  ])('refuses %j', (text) => {
    expect(parseImageReference(text)).toBeUndefined();
    expect(imageProblem(text)).toContain('is not an image');
  });

  it.each(['python/slim', 'library/python:3', 'team/skill'])(
    'refuses %s because it names no registry',
    (text) => {
      expect(imageProblem(text)).toContain('names no registry');
    },
  );

  it('gives every image one spelling, which parses to the same image', () => {
    const part = fc.stringMatching(/^[a-z0-9]{1,5}([._-][a-z0-9]{1,5})?$/);
    const reference = fc.record(
      {
        name: fc
          .array(part, { minLength: 1, maxLength: 3 })
          .map((parts) => ['localhost', ...parts].join('/')),
        tag: fc.stringMatching(/^[A-Za-z0-9_][A-Za-z0-9_.-]{0,20}$/),
        digest: fc.stringMatching(/^sha256:[0-9a-f]{64}$/),
      },
      { requiredKeys: ['name'] },
    );
    fc.assert(
      fc.property(reference, (one) => {
        const text = formatImageReference(one);
        const parsed = parseImageReference(text);
        expect(parsed && formatImageReference(parsed)).toBe(text);
        expect(parsed?.name).toBe(one.name);
        expect(text).toContain(one.digest ?? `:${one.tag ?? 'latest'}`);
      }),
    );
  });

  it('never yields an option or another transport of a container engine', () => {
    fc.assert(
      fc.property(
        fc.string({
          unit: fc.constantFrom('-', '/', ':', '@', 'a', '.', ' ', '\n', 'localhost'),
          maxLength: 12,
        }),
        (text) => {
          if (imageProblem(text) !== undefined) return;
          expect(text).toMatch(/^[a-z0-9][a-z0-9.-]*(?::\d+)?\/[a-z0-9]/);
          expect(text).not.toMatch(/\s/);
        },
      ),
    );
  });
});

describe('containerUserProblem', () => {
  it.each(['1000', '1000:1000', 'app', 'app:users', '65534', '4294967294:1'])('accepts %s', (user) => {
    expect(containerUserProblem(user)).toBeUndefined();
  });
  it.each(['0', 'root', '0:1000', '1000:0', 'app:root', 'root:root'])('refuses %s as root', (user) => {
    expect(containerUserProblem(user)).toContain('is root');
  });
  it.each([...words('00 01 -1 1:2:3 A 4294967295 99999999999 :1 1: --x'), '', 'a b', 'ro ot'])(
    'refuses %j as a user',
    (user) => {
      expect(containerUserProblem(user)).toContain('is not a user');
    },
  );
});

describe('the container section of a manifest', () => {
  const parse = (section: string) =>
    parseManifest(`name: a/b\nversion: 1.0.0\ndescription: x\ncontainer: ${section}`, {
      file: 'manifest.yaml',
    });

  it('is read with every key', () => {
    const { manifest } = parse(
      '{ dockerfile: docker/Dockerfile, build_network: true, runtime: runsc, user: "1000" }',
    );
    expect(manifest.container).toEqual({
      dockerfile: 'docker/Dockerfile',
      buildNetwork: true,
      runtime: 'runsc',
      user: '1000',
    });
  });

  it.each([
    ['{}', 'container: Name either an image or a dockerfile'],
    ['{ runtime: crun }', 'either an image or a dockerfile'],
    ['{ image: localhost/a, dockerfile: b }', 'either an image or a dockerfile'],
    ['{ image: localhost/a, build_network: true }', '"build_network" needs a dockerfile'],
    ['{ dockerfile: ../Dockerfile }', 'contains ".."'],
    ['{ dockerfile: /Dockerfile }', 'relative to the bundle'],
    ['{ image: localhost/a, privileged: true }', 'Unknown key "privileged"'],
    ['{ image: localhost/a, network: host }', 'Unknown key "network"'],
    ['{ image: localhost/a, user: root }', 'is root'],
    ['{ image: localhost/a, reuse: pool }', 'Every call gets its own container'],
    ['{ image: localhost/a, reuse: single }', 'Delete this key'],
    ['{ image: localhost/a, runtime: "--x" }', 'container.runtime'],
    ['{ dockerfile: Dockerfile, build_network: host }', 'container.build_network'],
  ])('is refused for %s', (section, words) => {
    const error = errorOf(() => parse(section));
    expect(error.code).toBe('manifest_invalid');
    expect(error.message.replaceAll(/ \(line \d+\)/g, '')).toContain(words);
  });
});
