/**
 * The media types and annotations of skills in registries. The layout is the one that other programs for Agent Skills write
 * and read; the types of Skillcell come in addition, and other programs ignore them.
 *
 * @module
 */

/** An artifact with a skill. */
export const SKILL_TYPES = {
  artifact: 'application/vnd.agentskills.skill.v1',
  config: 'application/vnd.agentskills.skill.config.v1+json',
  content: 'application/vnd.agentskills.skill.content.v1.tar+gzip',
  /** `skill.lock` and `skill.sig`, which belong to the bundle without being part of it. */
  lock: 'application/vnd.skillcell.lock.v1+json',
} as const;

/** An artifact with one WebAssembly component, as other runtimes read it. */
export const WASM_TYPES = {
  config: 'application/vnd.wasm.config.v0+json',
  content: 'application/wasm',
} as const;

export const MANIFEST_TYPES = {
  image: 'application/vnd.oci.image.manifest.v1+json',
  index: 'application/vnd.oci.image.index.v1+json',
} as const;

/** A list of skills, as other programs for Agent Skills write and read it: an index with this type. */
export const CATALOG_TYPE = 'application/vnd.agentskills.collection.v1';

/** The config of an artifact without one: `{}`. */
export const EMPTY_TYPE = 'application/vnd.oci.empty.v1+json';

/** Documents about a skill that travel beside it, by the type of their artifact. */
export const ATTACHMENT_TYPES = {
  sigstore: 'application/vnd.dev.sigstore.bundle.v0.3+json',
  cyclonedx: 'application/vnd.cyclonedx+json',
  spdx: 'application/spdx+json',
  dsse: 'application/vnd.dsse.envelope.v1+json',
} as const;

export const ANNOTATIONS = {
  title: 'org.opencontainers.image.title',
  version: 'org.opencontainers.image.version',
  description: 'org.opencontainers.image.description',
  skillName: 'io.agentskills.skill.name',
  /** In a catalog: where the skill is, with its version. */
  skillReference: 'io.agentskills.skill.ref',
  catalogName: 'io.agentskills.collection.name',
  bundleDigest: 'dev.skillcell.bundle.digest',
  predicateType: 'in-toto.io/predicate-type',
} as const;
