/** A container image in a folder: the layout that the Open Container Initiative defines. */

import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

import type { Platform } from '../../revision/index.ts'
import { CommandError } from '../admin-command.ts'

/** Names a blob, and says what is in it. */
export interface Descriptor {
  readonly mediaType: string
  /** `sha256:` and hexadecimal digits. */
  readonly digest: string
  readonly size: number
}

interface PlatformDescriptor extends Descriptor {
  readonly platform?: { readonly os: string; readonly architecture: string }
}

/** Layers of an image from the lowest, and its configuration. */
export interface ImageManifest {
  readonly schemaVersion: 2
  readonly mediaType?: string
  readonly config: Descriptor
  readonly layers: readonly Descriptor[]
}

/** Configuration with which an image is run. Members that are not named here are kept. */
export interface ImageConfig {
  readonly os: string
  readonly architecture: string
  readonly config?: { readonly Env?: readonly string[]; readonly WorkingDir?: string }
  readonly rootfs: { readonly type: 'layers'; readonly diff_ids: readonly string[] }
  readonly history?: readonly object[]
}

/** An image of a layout. */
export interface BaseImage {
  readonly manifest: ImageManifest
  readonly config: ImageConfig
}

const manifestType = 'application/vnd.oci.image.manifest.v1+json'

/** Indexes within an index. */
const depthMax = 4

/** Reads the image of a layout that runs on a platform. Throws CommandError. */
export async function readLayout(folder: string, platform: Platform): Promise<BaseImage> {
  const text = await readFile(join(folder, 'index.json'), 'utf8').catch(
    ({ code }: NodeJS.ErrnoException) => {
      throw new CommandError(
        `${folder}/index.json cannot be read (${code}): --base is the folder of an OCI layout, ` +
          'as "skopeo copy docker://<image> oci:<folder>" makes it.',
        'misused',
      )
    },
  )
  const manifest = await manifestIn(folder, parsed(text), platform, 0)
  if (manifest === undefined) {
    throw new CommandError(`${folder} has no image, or more than one, for ${platform.os} on ` +
      `${architectureOf(platform)}.`, 'refused')
  }
  const config = parsed(`${await readBlob(folder, manifest.config)}`) as unknown as ImageConfig
  if (!Array.isArray(config.rootfs?.diff_ids)
    || config.rootfs.diff_ids.length !== manifest.layers.length) {
    throw new CommandError(`${folder} has an image without the form of one.`, 'refused')
  }
  return { manifest, config }
}

async function manifestIn(folder: string, index: object, platform: Platform,
  depth: number): Promise<ImageManifest | undefined> {
  const { manifests } = index as { readonly manifests?: readonly PlatformDescriptor[] }
  const fitting = (manifests ?? []).filter(({ platform: of }) =>
    of === undefined || (of.os === platform.os && of.architecture === architectureOf(platform))
  )
  const [found, second] = fitting
  if (found === undefined || second !== undefined || depth === depthMax) return undefined
  const value = parsed(`${await readBlob(folder, found)}`)
  if ('manifests' in value) return await manifestIn(folder, value, platform, depth + 1)
  if (!('layers' in value && 'config' in value)) return undefined
  return { mediaType: found.mediaType, ...value } as unknown as ImageManifest
}

/** A blob, whose hash is checked. Throws CommandError. */
export async function readBlob(folder: string, { digest }: Descriptor): Promise<Buffer> {
  const [, hash] = /^sha256:([0-9a-f]{64})$/.exec(digest) ?? []
  if (hash === undefined) throw new CommandError(`${folder} names a blob by ${digest}.`, 'refused')
  const data = await readFile(join(folder, 'blobs/sha256', hash)).catch(
    ({ code }: NodeJS.ErrnoException) => {
      throw new CommandError(`${folder} has no readable blob ${digest} (${code}).`, 'refused')
    },
  )
  if (createHash('sha256').update(data).digest('hex') === hash) return data
  throw new CommandError(`${folder} has a blob that is not ${digest}.`, 'refused')
}

/** Name of a processor as images have it. */
function architectureOf({ cpu }: Platform): string {
  return cpu === 'x64' ? 'amd64' : cpu
}

/** The media type of a layer beside those of a manifest. */
export function layerType({ mediaType = manifestType }: ImageManifest): string {
  return mediaType.includes('docker')
    ? 'application/vnd.docker.image.rootfs.diff.tar.gzip'
    : 'application/vnd.oci.image.layer.v1.tar+gzip'
}

/** The media type of a manifest. */
export function typeOf({ mediaType = manifestType }: ImageManifest): string {
  return mediaType
}

function parsed(text: string): object {
  try {
    return Object(JSON.parse(text)) as object
  } catch {
    throw new CommandError('The OCI layout has a file that is not JSON.', 'refused')
  }
}
