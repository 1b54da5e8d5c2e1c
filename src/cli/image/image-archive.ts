/** Writes an image of two: the layers of a base, and one with a project. */

import { createHash } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import { posix } from 'node:path'
import { pipeline } from 'node:stream/promises'

import { headerOf, paddingOf, tarEnd } from '../../revision/index.ts'
import { layerType, readBlob, typeOf } from './oci-layout.ts'
import type { BaseImage, Descriptor, ImageConfig, ImageManifest } from './oci-layout.ts'
import { projectFolder } from './project-layer.ts'
import type { Layer } from './project-layer.ts'

/** Parts of an image: the layers of its base, and the project. */
export interface ImageParts {
  /** Folder of the layout that the base is in. */
  readonly folder: string
  readonly base: BaseImage
  readonly layer: Layer
  /** Path of the langgraph.json below the project. */
  readonly configPath: string
  /** Names the revision. */
  readonly revisionHash: string
}

/** The configuration of the base with one more layer. Times stay those of the base. */
function imageConfig(
  { base: { config }, layer, configPath, revisionHash }: Omit<ImageParts, 'folder'>,
): ImageConfig {
  const { Env: before = [], WorkingDir: folder = '/' } = config.config ?? {}
  // The project belongs to root, and a server runs as another user.
  const data = before.some((each) => each.startsWith('HEDDLE_DATA_DIR='))
    ? []
    : [`HEDDLE_DATA_DIR=${posix.join(folder, '.heddle')}`]
  const added = [`HEDDLE_CONFIG=/${projectFolder}/${configPath}`, ...data]
  const names = added.map((each) => each.slice(0, each.indexOf('=') + 1))
  const kept = before.filter((each) => !names.some((name) => each.startsWith(name)))
  return { ...config, config: { ...config.config, Env: [...kept, ...added] },
    rootfs: { type: 'layers',
      diff_ids: [...config.rootfs.diff_ids, `sha256:${layer.plainSha256}`] }, ...config.history &&
    {
      history: [...config.history, { created_by: 'heddle image',
        comment: `revision ${revisionHash}` }],
    } }
}

/**
 * Writes an archive of an OCI layout with the image. Resolves with the digest of its manifest. The
 * same base and revision give the same bytes. Throws CommandError.
 */
export async function writeImage(parts: ImageParts, out: string): Promise<string> {
  const { folder, base, layer } = parts
  const config = jsonBlob(imageConfig(parts), base.manifest.config.mediaType)
  const manifest: ImageManifest = { ...base.manifest, config: config.descriptor,
    layers: [...base.manifest.layers, { mediaType: layerType(base.manifest),
      digest: `sha256:${layer.sha256}`, size: layer.bytes }] }
  const top = jsonBlob(manifest, typeOf(base.manifest))
  const index = { schemaVersion: 2,
    manifests: [{ ...top.descriptor,
      annotations: { 'org.opencontainers.image.ref.name': 'latest' } }] }
  async function* tar(): AsyncGenerator<Buffer> {
    yield* file('oci-layout', Buffer.from('{"imageLayoutVersion":"1.0.0"}'))
    yield* file('index.json', Buffer.from(JSON.stringify(index)))
    for (const { descriptor, data } of [top, config]) yield* file(pathOf(descriptor.digest), data)
    for (const digest of new Set(base.manifest.layers.map(({ digest }) => digest))) {
      const each = base.manifest.layers.find((one) => one.digest === digest)!
      yield* file(pathOf(digest), await readBlob(folder, each))
    }
    yield headerOf({ kind: 'file', path: pathOf(`sha256:${layer.sha256}`), executable: false,
      bytes: layer.bytes })
    yield* createReadStream(layer.file) as AsyncIterable<Buffer>
    yield paddingOf(layer.bytes)
    yield tarEnd
  }
  await pipeline(tar, createWriteStream(out))
  return top.descriptor.digest
}

function* file(path: string, data: Buffer): Generator<Buffer> {
  yield headerOf({ kind: 'file', path, executable: false, bytes: data.length })
  yield data
  yield paddingOf(data.length)
}

function jsonBlob(value: object, mediaType: string) {
  const data = Buffer.from(JSON.stringify(value))
  const digest = `sha256:${createHash('sha256').update(data).digest('hex')}`
  return { data, descriptor: { mediaType, digest, size: data.length } satisfies Descriptor }
}

function pathOf(digest: string): string {
  return `blobs/${digest.replace(':', '/')}`
}
