/** A registry of packages on this machine, which notes what it is asked. */

import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

import { gzippedTar } from './tar-files.ts'

/** A package that it has: its package.json, and more files. */
export interface RegisteredPackage {
  readonly manifest: { readonly name: string; readonly version: string;
    readonly [key: string]: unknown }
  readonly files?: Readonly<Record<string, string>>
}

/** A request as it came. */
export interface RegistryRequest {
  readonly path: string
  readonly authorization: string | undefined
}

/** It runs until it is closed. */
export interface PackageRegistry {
  readonly url: string
  readonly requests: readonly RegistryRequest[]
  /** Of the newest version of a package. */
  integrity(name: string): string
  close(): Promise<void>
}

/** Resolves when it answers. */
export async function startRegistry(
  packages: readonly RegisteredPackage[],
): Promise<PackageRegistry> {
  const requests: RegistryRequest[] = []
  let url = ''
  const tarballs = new Map(packages.map((each) => [tarballPath(each), tarballOf(each)]))
  const server = createServer(({ url: asked = '/', headers: { authorization } }, response) => {
    const path = decodeURIComponent(asked)
    requests.push({ path, authorization })
    const tarball = tarballs.get(path)
    if (tarball !== undefined) return response.end(tarball)
    const versions = packages.filter(({ manifest }) => path === `/${manifest.name}`)
    if (versions.length === 0) return response.writeHead(404).end('{}')
    response.setHeader('content-type', 'application/json').end(JSON.stringify({
      name: versions[0]!.manifest.name,
      'dist-tags': { latest: versions.at(-1)!.manifest.version },
      time: Object.fromEntries(
        versions.map(({ manifest }) => [manifest.version, '2026-01-01T00:00:00.000Z']),
      ),
      versions: Object.fromEntries(versions.map((each) => [each.manifest.version, {
        ...each.manifest,
        dist: { tarball: url + tarballPath(each), ...hashesOf(tarballs.get(tarballPath(each))!) },
      }])),
    }))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const integrity = (name: string) => {
    const found = packages.findLast(({ manifest }) => manifest.name === name)!
    return hashesOf(tarballs.get(tarballPath(found))!).integrity
  }
  return { url, requests, integrity, close: async () => {
    server.closeAllConnections()
    server.close()
    await once(server, 'close')
  } }
}

function tarballPath({ manifest: { name, version } }: RegisteredPackage): string {
  return `/${name}/-/${name.split('/').at(-1)}-${version}.tgz`
}

function tarballOf({ manifest, files = {} }: RegisteredPackage): Buffer {
  const texts = { 'package.json': JSON.stringify(manifest), ...files }
  return gzippedTar(
    ...Object.entries(texts).map(([path, text]) => ({ path: `package/${path}`, text })),
  )
}

function hashesOf(tarball: Buffer) {
  const hash = (name: string) => createHash(name).update(tarball)
  return { integrity: `sha512-${hash('sha512').digest('base64')}`,
    shasum: hash('sha1').digest('hex') }
}
