/**
 * What a skill consists of, as CycloneDX 1.6: the skill and everything that its lock pins. The same lock gives the same bytes.
 *
 * @module
 */
import type { Lock } from '../../load/lock.ts';

export interface SbomInput {
  readonly name: string;
  readonly version: string;
  /** What the manifest asks for, which may not be pinned. */
  readonly requirements: readonly string[];
  readonly lock: Lock;
}

interface Component {
  'bom-ref': string;
  type: 'library' | 'container';
  name: string;
  version: string;
  purl?: string;
  hashes: { alg: string; content: string }[];
  properties?: { name: string; value: string }[];
}

export function makeSbom({ name, version, requirements, lock }: SbomInput): Record<string, unknown> {
  const root = `skill:${name}@${version}`;
  const components = [...pinnedPackages(lock), ...npmPackages(lock), ...images(lock)];
  const unpinned = lock.packages ? [] : [...requirements].sort();
  return {
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: {
      component: {
        'bom-ref': root,
        type: 'application',
        name,
        version,
        properties: [
          { name: 'skillcell:bundle', value: lock.digest },
          ...unpinned.map((value) => ({ name: 'skillcell:unpinned-requirement', value })),
        ],
      },
    },
    components,
    dependencies: [{ ref: root, dependsOn: components.map((one) => one['bom-ref']) }],
  };
}

/** One component for each archive that a target pins; several targets may use the same one. */
function pinnedPackages({ packages }: Lock): Component[] {
  const wheels = new Map<string, Component>();
  for (const [target, lines] of Object.entries(packages?.targets ?? {}).sort(([a], [b]) =>
    a < b ? -1 : 1,
  )) {
    for (const line of lines) {
      const [name = '', version = '', digest = ''] = line.split(' ');
      const purl = `${target === 'npm' ? npmPurl(name) : pypiPurl(name)}@${encodeURIComponent(version)}`;
      const content = digest.slice('sha256:'.length);
      const known = wheels.get(line);
      const properties = [...(known?.properties ?? []), { name: 'skillcell:target', value: target }];
      const hashes = [{ alg: 'SHA-256', content }];
      wheels.set(line, {
        'bom-ref': `${purl}#${content}`,
        type: 'library',
        name,
        version,
        purl,
        hashes,
        properties,
      });
    }
  }
  return [...wheels].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, component]) => component);
}

function pypiPurl(name: string): string {
  return `pkg:pypi/${name.toLowerCase().replaceAll('_', '-')}`;
}

function npmPurl(name: string): string {
  return `pkg:npm/${name.replace('@', '%40')}`;
}

const ALGORITHMS: Readonly<Record<string, string>> = {
  sha256: 'SHA-256',
  sha384: 'SHA-384',
  sha512: 'SHA-512',
};

function npmPackages({ npm = [] }: Lock): Component[] {
  return npm.toSorted().map((line) => {
    const [name = '', version = '', integrity = ''] = line.split(' ');
    const dash = integrity.indexOf('-');
    const content = Buffer.from(integrity.slice(dash + 1), 'base64').toString('hex');
    const purl = `${npmPurl(name)}@${encodeURIComponent(version)}`;
    const alg = ALGORITHMS[integrity.slice(0, dash)] ?? '';
    return { 'bom-ref': purl, type: 'library', name, version, purl, hashes: [{ alg, content }] };
  });
}

function images({ image }: Lock): Component[] {
  if (image === undefined) return [];
  const hashes = [{ alg: 'SHA-256', content: image.slice('sha256:'.length) }];
  return [{ 'bom-ref': `image:${image}`, type: 'container', name: 'image', version: image, hashes }];
}
