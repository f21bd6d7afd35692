/**
 * Overlays: permissions beside a stranger's folder, bound to its digest.
 *
 * @module
 */
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { recordAccepted } from '../../src/load/accepted-packages.ts';
import { capabilitySet } from '../../src/load/capability-set.ts';
import {
  applyOverlay,
  chooseOverlay,
  overlayFile,
  parseOverlay,
  type ChosenOverlay,
  type WithOverlay,
} from '../../src/load/overlay.ts';
import { SkillError } from '../../src/errors.ts';
import { addToManifest, type Permissions } from '../../src/manifest/add-to-manifest.ts';
import type { NetworkRule } from '../../src/manifest/manifest.ts';
import { exampleManifest } from '../policy/example-manifest.ts';
import { folderPerTest } from '../test-folder.ts';
import { thrownBy } from '../thrown.ts';

const folder = folderPerTest();
const DIGEST = `sha256:${'a'.repeat(64)}`;
const OTHER = `sha256:${'b'.repeat(64)}`;
const BUNDLE = {
  manifest: exampleManifest({ name: 'skills/pdf', declaresCapabilities: false }),
  kind: 'script',
  digest: DIGEST,
  sourceDir: '/somewhere/pdf',
} as const;
const HEAD = `skill: pdf\ndigest: ${DIGEST}\n`;
const HOST = 'capabilities: { network: [{ host: api.example.com }] }\n';

type Place = 'home' | 'project';

function write(place: Place, text: string): string {
  const file = overlayFile('skills/pdf', place, places());
  mkdirSync(dirname(file), { recursive: true });
  rmSync(file, { force: true });
  writeFileSync(file, text);
  return file;
}

const places = (): { home: string; cwd: string } => ({ home: folder.at('home'), cwd: folder.at('project') });
const choose = (bundle: Parameters<typeof chooseOverlay>[0] = BUNDLE): ChosenOverlay =>
  chooseOverlay(bundle, places());
const apply = (): WithOverlay => applyOverlay(BUNDLE, choose());
const parse = (text: string): ReturnType<typeof parseOverlay> =>
  parseOverlay(text, { file: 'pdf.yaml', place: 'project' });

describe('an overlay', () => {
  it('in the home counts for the files that it names', () => {
    write('home', HEAD + HOST);
    expect(capabilitySet(apply().manifest)).toEqual(['network api.example.com']);
    expect(apply().warnings).toEqual([]);
  });

  it('in a project permits nothing by itself, and says how to approve it', () => {
    const file = write('project', HEAD + HOST);
    const { manifest, applied, warnings } = apply();
    expect(capabilitySet(manifest)).toEqual([]);
    expect(capabilitySet(applied?.full ?? manifest)).toEqual(['network api.example.com']);
    expect(warnings).toEqual([
      `The overlay "${file}" permits nothing until you approve it: skillcell approve /somewhere/pdf`,
    ]);
  });

  const PACKAGES = `requirements: [pypdf]\npackages: { requirements: [pypdf], targets: { python: ["pypdf 1 sha256:${'a'.repeat(64)}"] } }\n`;

  it('in a project adds no packages that nobody installed here, and says how to install them', () => {
    const file = write('project', HEAD + PACKAGES);
    const { manifest, packages, applied, warnings } = apply();
    expect([manifest.requirements, packages]).toEqual([[], undefined]);
    expect(applied?.full.requirements).toEqual([]);
    expect(applied?.offered).toMatchObject({ requirements: ['pypdf'] });
    expect(warnings).toEqual([
      `The overlay "${file}" names packages that do not count until you install them: skillcell install /somewhere/pdf`,
    ]);
  });

  it('in a project adds the packages that a person installed, and no others', () => {
    write('project', HEAD + PACKAGES);
    recordAccepted(places().home, apply().applied?.offered ?? { skill: '', requirements: [] });
    expect(apply()).toMatchObject({
      manifest: { requirements: ['pypdf'] },
      packages: { requirements: ['pypdf'] },
      warnings: [],
    });
    write('project', HEAD + PACKAGES.replace('pypdf 1 ', 'pypdf 2 '));
    expect(apply()).toMatchObject({ manifest: { requirements: [] }, packages: undefined });
    write('project', HEAD + PACKAGES.replace('[pypdf]', '[pypdf, evil]'));
    expect(apply()).toMatchObject({ manifest: { requirements: [] }, packages: undefined });
  });

  it('in the home adds packages at once, because only a person writes there', () => {
    write('home', `${HEAD}requirements: [pypdf]\n`);
    expect(apply()).toMatchObject({ manifest: { requirements: ['pypdf'] }, warnings: [] });
  });

  it.each<Place>(['home', 'project'])(
    'in the %s for other files gives nothing and says how to renew it',
    (place) => {
      write(place, `skill: pdf\ndigest: ${OTHER}\nrequirements: [pypdf]\n${HOST}`);
      const { manifest, applied, warnings } = apply();
      expect(manifest).toBe(BUNDLE.manifest);
      expect(applied).toBeUndefined();
      expect(warnings).toMatchObject([expect.stringContaining('skillcell approve --renew /somewhere/pdf')]);
    },
  );

  it('of the home is the only one that counts if both are for the same files', () => {
    write('home', `${HEAD}limits: { processes: 2 }\n`);
    write('project', HEAD + HOST);
    const { manifest, warnings } = apply();
    expect(capabilitySet(manifest)).toEqual(['processes 2']);
    expect(warnings).toMatchObject([expect.stringContaining('does not count')]);
  });

  it('of another skill, or for a skill with an entry, gives nothing', () => {
    write('home', `skill: docx\ndigest: ${DIGEST}\n${HOST}`);
    expect(choose().overlay).toBeUndefined();
    write('home', HEAD + HOST);
    expect(choose({ ...BUNDLE, kind: 'function' }).overlay).toBeUndefined();
    expect(choose().overlay).toBeDefined();
  });

  it('that is a link is refused', () => {
    const file = write('project', HEAD);
    rmSync(file);
    writeFileSync(folder.at('elsewhere'), HEAD);
    symlinkSync(folder.at('elsewhere'), file);
    expect(thrownBy(choose).message).toContain('symbolic link');
  });

  it('that is too large is refused', () => {
    write('project', `${HEAD}# ${'x'.repeat(70_000)}\n`);
    expect(thrownBy(choose).message).toContain('larger than');
  });

  it.each([
    ['an unknown key', `${HEAD}allow: all\n`],
    ['an unknown capability', `${HEAD}capabilities: { camera: true }\n`],
    ['an unknown key of a variable', `${HEAD}env_vars: { A: { value: x } }\n`],
    ['no digest', 'skill: pdf\n'],
    ['a short digest', 'skill: pdf\ndigest: sha256:abc\n'],
    ['an address as a requirement', `${HEAD}requirements: ["x @ https://evil.invalid/x.whl"]\n`],
    ['a pin without a digest', `${HEAD}packages: { requirements: [], targets: { python: [x] } }\n`],
    ['an entry', `${HEAD}entry: skill.py\n`],
    ['a mode', `${HEAD}execution: in_process\n`],
    ['an alias', `${HEAD}limits: &a { processes: 1 }\nenv_vars: *a\n`],
    ['a list', '- skill\n'],
    ['a bundle path to write', `${HEAD}capabilities: { filesystem: [{ path: x, access: read-write }] }\n`],
  ])('with %s is invalid', (_, text) => {
    expect(thrownBy(() => parse(text)).code).toBe('manifest_invalid');
  });
});

describe('for any text and any permissions, an overlay', () => {
  it('is read or refused with manifest_invalid', () => {
    const lines = fc.array(
      fc.constantFrom(
        HEAD,
        HOST,
        'skill: pdf\n',
        '{',
        '}',
        '- x\n',
        'limits:\n',
        '  memory: 1GiB\n',
        '"',
        '&a *a',
        '\t',
      ),
    );
    fc.assert(
      fc.property(lines, (parts) => {
        try {
          parse(parts.join(''));
        } catch (error) {
          expect(error).toBeInstanceOf(SkillError);
          expect((error as SkillError).code).toBe('manifest_invalid');
        }
      }),
    );
  });

  it('adds what it says, and nothing else', () => {
    const paths = ['${workspace}', '${workspace}/a', '/data'];
    const rules = fc.uniqueArray(
      fc.record({
        path: fc.constantFrom(...paths),
        access: fc.constantFrom('read' as const, 'read-write' as const),
      }),
      { selector: ({ path }) => path },
    );
    const permissions: fc.Arbitrary<Permissions> = fc.record({
      capabilities: fc.record({
        filesystem: rules,
        network: fc.subarray<NetworkRule>([{ host: 'a.example' }, { host: 'b.example', port: 1 }]),
        programs: fc.subarray(['git', 'soffice']),
      }),
      env: fc.constantFrom<Permissions['env'][]>({}, { A: { required: false, secret: false, hosts: [] } }),
      limits: fc.constantFrom<Permissions['limits'][]>({}, { processes: 3 }),
    });
    fc.assert(
      fc.property(permissions, permissions, (base, added) => {
        const empty = exampleManifest();
        const declared = addToManifest(empty, base);
        const both = capabilitySet(addToManifest(declared, added));
        const said = [...capabilitySet(declared), ...capabilitySet(addToManifest(empty, added))];
        for (const line of both) expect(said).toContain(line);
        for (const line of capabilitySet(declared))
          expect(
            both.some(
              (one) => one === line || one === line.replace('filesystem read ', 'filesystem read-write '),
            ),
          ).toBe(true);
      }),
    );
  });
});
