/**
 * Container engines of this machine as places that hold images and can build them. Only commands that say so come here
 * (`build`, `install`); a call never does.
 *
 * @module
 */

export interface BuildRequest {
  /** Folder that is sent to the engine. */
  context: string;
  /** Path of the Dockerfile inside of it. */
  dockerfile: string;
  /** What the result is called inside of the engine. */
  tag: string;
  network: boolean;
}

export interface ImageEngine {
  readonly name: 'podman' | 'docker';
  has(reference: string): Promise<boolean>;
  /** Fetches from the registry that the reference names. */
  pull(reference: string): Promise<void>;
  /** Writes the archive of an image. */
  save(reference: string, file: string): Promise<void>;
  load(archive: string): Promise<void>;
  tag(source: string, name: string): Promise<void>;
  build(request: BuildRequest): Promise<void>;
  remove(reference: string): Promise<void>;
}
