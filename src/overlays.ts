/**
 * What a runtime does about Agent Skills folders beyond their calls: overlays beside them, and proposals for packages.
 *
 * @module
 */
import { acceptOverlay, withAccepted } from './load/install-script.ts';
import {
  installSkill,
  type InstallDeps,
  type Installation,
  type InstallOptions,
} from './load/install-skill.ts';
import type { Bundle } from './load/bundle.ts';
import type { OverlayPlaces } from './load/overlay.ts';
import { proposePackages, type PackageProposal } from './load/propose-packages.ts';
import { renewal, type Renewal } from './load/renew-overlay.ts';
import type { Skill } from './load/skill.ts';
import { draftOverlay, overlayToEdit, type OverlayToEdit } from './load/write-overlay.ts';
import type { Offload } from './offload/offload.ts';
import { capabilitySources, type CapabilitySource } from './policy/capability-sources.ts';
import type { Manifest } from './manifest/manifest.ts';
import { givenTo } from './policy/plan.ts';
import { manifestOfCall } from './policy/skill-grants.ts';
import { makeOverlayRecording } from './record/overlay-recording.ts';
import { makeRecording, type ObservedCall, type Recording } from './record/recording.ts';
import type { ExecuteOptions } from './runtime-options.ts';
import { SettledOverlays } from './trust/settle-overlay.ts';

/** The parts of a machine that this needs. */
export interface OverlayMachine extends InstallDeps {
  readonly offload: Offload;
  /** Adds the image and packages that a call would use now. */
  pin(skill: Skill): Promise<Skill>;
}

/** Permissions and packages of Agent Skills folders, which are written beside them. */
export class Overlays {
  readonly #places: OverlayPlaces;
  readonly #machine: OverlayMachine;
  readonly #isApproved: (bundle: Bundle) => boolean;
  readonly #settled = new SettledOverlays();

  constructor(places: OverlayPlaces, machine: OverlayMachine, isApproved: (bundle: Bundle) => boolean) {
    this.#places = places;
    this.#machine = machine;
    this.#isApproved = isApproved;
  }

  /** The skill as a call would use it now: pinned, and with the permissions of its overlay if they count. */
  async settle(skill: Skill, isApproved: (bundle: Bundle) => boolean = this.#isApproved): Promise<Skill> {
    return this.#settled.settle(await this.#machine.pin(skill), isApproved);
  }

  /** The skill with the permissions of its overlay, whether they are approved or not: what a person is asked about. */
  proposed(skill: Skill): Skill {
    return this.#settled.proposed(skill);
  }

  /** The overlay of earlier files of this skill, bound to its present ones; undefined if there is none. Writes nothing. */
  async renewal(skill: Skill): Promise<(Renewal & { skill: Skill }) | undefined> {
    const found = renewal(skill.bundle, this.#places);
    if (!found) return undefined;
    return { ...found, skill: this.proposed(await this.settle({ ...skill, bundle: found.bundle })) };
  }

  /** Every capability that a call would ask for, and who declared it: the bundle, its overlay, or this call. */
  sourcesOf({ bundle }: Skill, options: ExecuteOptions = {}): CapabilitySource[] {
    return capabilitySources(bundle, givenTo({ options, cwd: this.#places.cwd }));
  }

  /** What a call would ask for: what is declared, and what the call is given. */
  manifestOf({ bundle }: Skill, options: ExecuteOptions): Manifest {
    return manifestOfCall(bundle, givenTo({ options, cwd: this.#places.cwd }));
  }

  /** The packages that an Agent Skills folder declares or imports and that are not required yet. Installs nothing. */
  async packages({ bundle }: Skill): Promise<PackageProposal> {
    if (bundle.kind !== 'script') return { needs: [], npm: [], skipped: [] };
    return proposePackages(bundle, this.#machine.offload);
  }

  /** Installs a skill; packages that only imports suggest need the consent of a person. */
  async install(
    skill: Skill,
    options: InstallOptions,
  ): Promise<{ bundle: Bundle; installation: Installation }> {
    const wanted = await withAccepted(skill.bundle, await this.packages(skill), options);
    const done = await installSkill(wanted, this.#machine, { ...options, overlays: this.#places });
    acceptOverlay(done.bundle, this.#places);
    return done;
  }

  /** How a person permits more to a folder without a manifest; undefined for any other skill. */
  toEdit(bundle: Bundle): (() => OverlayToEdit) | undefined {
    if (bundle.kind !== 'script' || Object.hasOwn(bundle.files, 'manifest.yaml')) return undefined;
    return () => overlayToEdit(bundle, this.#places);
  }

  /** What an observed call needed: a manifest, or the overlay of an Agent Skills folder. */
  recording(bundle: Bundle, call: ObservedCall, params: unknown): Recording {
    if (bundle.kind !== 'script') return makeRecording(bundle, call);
    const { command } = params as { command: string[] };
    return makeOverlayRecording(bundle, { ...call, command }, draftOverlay(bundle, this.#places));
  }
}
