/** The revisions on disk: shared, complete or absent, and removed when there are too many. */

import { chmod, mkdir, readdir, rename, rm, stat, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'

import { expect, it } from 'vitest'

import { RevisionCache } from '../../../src/revision/cache/revision-cache.ts'
import { packagesHash } from '../../../src/revision/manifest.ts'
import type { Manifest } from '../../../src/revision/manifest.ts'
import { Chunks, freshFolder, manifestOf } from './trees.ts'
import type { Leaves } from './trees.ts'

/** A clock that moves by a second a look. */
function ticking() {
  let nowMs = 1_700_000_000_000
  return { nowMs: () => nowMs += 1_000 }
}

async function opened(directory: string, bytesMax = 1_000_000_000) {
  return await RevisionCache.open({ directory, bytesMax, env: ticking() })
}

/** A revision with a package of that many bytes. */
async function revision(chunks: Chunks, own: Leaves, text = 'x'): Promise<Manifest> {
  return manifestOf([
    await chunks.addTree({ 'langgraph.json': '{}', ...own }),
    await chunks.addTree({ 'index.js': `module.exports = ${JSON.stringify(text)}` }, 'package',
      'node_modules/some'),
  ])
}

it('keeps packages once, and own files where Node finds the packages', async () => {
  const [directory, chunks] = [await freshFolder(), new Chunks()]
  const cache = await opened(directory)
  const first = await cache.hold(await revision(chunks, { 'a.js': '1' }), chunks.read)
  const reads = chunks.reads
  const second = await cache.hold(await revision(chunks, { 'a.js': '2' }), chunks.read)
  expect(chunks.reads - reads).toBe(1)
  expect(first.root).not.toBe(second.root)
  expect(join(first.root, '..')).toBe(join(second.root, '..'))
  expect(createRequire(second.configFile)('some')).toBe('x')
})

it('reads nothing for what is there, also after a start', async () => {
  const [directory, chunks] = [await freshFolder(), new Chunks()]
  const manifest = await revision(chunks, { 'a.js': '1' })
  await (await opened(directory)).hold(manifest, chunks.read)
  const cache = await opened(directory)
  await cache.hold(manifest, () => Promise.reject(new Error('read')))
  expect(cache.bytes).toBe(manifest.archives.reduce((sum, { bytes }) => sum + bytes, 0))
})

it('reports a full disk and an unwritable folder, by default without its path', async () => {
  const [directory, chunks] = [await freshFolder(), new Chunks()]
  const full = Object.assign(new Error('write'), { code: 'ENOSPC', errno: -28 })
  const manifest = await revision(chunks, {})
  const holding = async (label?: string) => {
    const cache = await RevisionCache.open({ directory, label, bytesMax: 1, env: ticking() })
    await cache.hold(manifest, () => Promise.reject(full))
  }
  await expect(holding()).rejects.toMatchObject({ code: 'unavailable', cause: full,
    message: expect.stringContaining('The disk of the folder of revisions is full') as string })
  await expect(holding('/cache')).rejects.toThrow('The disk of /cache is full')
  await writeFile(join(directory, 'file'), '')
  await expect(opened(join(directory, 'file/folder'))).rejects
    .toThrow('the folder of revisions cannot be used (ENOTDIR)')
})

it('unpacks once for all that ask at the same time', async () => {
  const [directory, chunks] = [await freshFolder(), new Chunks()]
  const manifest = await revision(chunks, { 'a.js': '1' })
  const cache = await opened(directory)
  const held = await Promise.all(Array.from({ length: 5 }, () => cache.hold(manifest, chunks.read)))
  expect(new Set(held.map(({ root }) => root)).size).toBe(1)
  expect(chunks.reads).toBe(2)
})

it('leaves nothing of what failed, and unpacks it at the next call', async () => {
  const [directory, chunks] = [await freshFolder(), new Chunks()]
  const manifest = await revision(chunks, { 'a.js': '1' })
  const cache = await opened(directory)
  await expect(cache.hold(manifest, () => Promise.reject(new Error('no store')))).rejects
    .toThrow('no store')
  expect(await readdir(directory)).toEqual([])
  const broken = { ...manifest,
    archives: manifest.archives.map((archive) =>
      archive.kind === 'own' ? { ...archive, hash: '1'.repeat(64) } : archive
    ) }
  await expect(cache.hold(broken, chunks.read)).rejects.toMatchObject({ code: 'wrong_hash' })
  const packages = packagesHash(manifest)
  expect(await readdir(join(directory, packages))).toEqual(['node_modules'])
  await cache.hold(manifest, chunks.read)
})

it('ends when it is aborted, and leaves nothing', async () => {
  const [directory, chunks] = [await freshFolder(), new Chunks()]
  const cache = await opened(directory)
  await expect(cache.hold(await revision(chunks, {}), chunks.read, AbortSignal.abort())).rejects
    .toMatchObject({ name: 'AbortError' })
  expect(await readdir(directory)).toEqual([])
})

it('removes at a start what was not completed, and nothing else', async () => {
  const [directory, chunks] = [await freshFolder(), new Chunks()]
  const manifest = await revision(chunks, { 'a.js': '1' })
  const { root } = await (await opened(directory)).hold(manifest, chunks.read)
  const hash = (digit: string) => digit.repeat(64)
  await mkdir(join(directory, `${hash('1')}.new`, 'node_modules'), { recursive: true })
  await mkdir(join(directory, hash('2'), 'node_modules'), { recursive: true })
  await writeFile(join(directory, `${hash('3')}.json`), '{"bytes":1}')
  await mkdir(join(directory, hash('4')))
  await writeFile(join(directory, `${hash('4')}.json`), '{')
  await rename(root, `${root}.new`)
  await writeFile(join(directory, 'other'), '')
  await opened(directory)
  const packages = packagesHash(manifest)
  expect(await readdir(directory)).toEqual([packages, `${packages}.json`, 'other'].sort())
  expect(await readdir(join(directory, packages))).toEqual(['node_modules'])
})

it('removes what was used least recently, and never what is held', async () => {
  const [directory, chunks] = [await freshFolder(), new Chunks()]
  const [one, two, three] = [await revision(chunks, {}, 'a'.repeat(10_000)),
    await revision(chunks, {}, 'b'.repeat(10_000)), await revision(chunks, {}, 'c'.repeat(10_000))]
  const cache = await opened(directory, 30_000)
  const held = await cache.hold(one, chunks.read)
  const second = await cache.hold(two, chunks.read)
  second.release()
  await cache.hold(three, chunks.read)
  const packagesIn = async () => (await readdir(directory)).filter((name) => name.length === 64)
  expect(await packagesIn()).toEqual([packagesHash(one), packagesHash(three)].sort())
  held.release()
  held.release()
  await cache.hold(two, chunks.read)
  expect(await packagesIn()).toEqual([packagesHash(two), packagesHash(three)].sort())
})

it('gives each folder the packages of its own, beside those of its workspace', async () => {
  const [directory, chunks] = [await freshFolder(), new Chunks()]
  const version = (text: string) => ({ 'index.js': `module.exports = '${text}'` })
  const manifest = manifestOf([
    await chunks.addTree({ 'langgraph.json': '{}', 'apps/one/a.js': '',
      'lib/index.js': "module.exports = require('some')",
      'apps/one/node_modules/lib': { link: '../../../lib' }, 'b.js': '' }),
    await chunks.addTree(version('1'), 'package', 'node_modules/some'),
    await chunks.addTree(version('2'), 'package', 'apps/one/node_modules/some'),
    await chunks.addTree(version('3'), 'package', 'apps/one/node_modules/@scope/deep'),
    await chunks.addTree({ 'apps/one/node_modules/linked': { link: '@scope/deep' } }, 'links'),
  ])
  const { root } = await (await opened(directory)).hold(manifest, chunks.read)
  const from = (file: string) => createRequire(join(root, file))
  expect(from('b.js')('some')).toBe('1')
  expect(from('apps/one/a.js')('some')).toBe('2')
  expect(from('apps/one/a.js')('@scope/deep')).toBe('3')
  expect(from('apps/one/a.js')('linked')).toBe('3')
  expect(from('apps/one/a.js')('lib')).toBe('1')
  await rm(root, { recursive: true })
})

/** What others may do with a path. */
async function ofOthers(...path: string[]): Promise<number> {
  return (await stat(join(...path))).mode & 0o007
}

/** Does some work with the strictest umask. */
async function closedToOthers<Result>(work: () => Promise<Result>): Promise<Result> {
  const before = process.umask(0o077)
  try {
    return await work()
  } finally {
    process.umask(before)
  }
}

it('is read by every user that knows the names, and nobody else sees them', async () => {
  const [folder, chunks] = [await freshFolder(), new Chunks()]
  const directory = join(folder, 'revisions')
  const manifest = await revision(chunks, { 'deep/er/a.js': '1' })
  const { root } = await closedToOthers(async () =>
    await (await opened(directory)).hold(manifest, chunks.read)
  )
  expect(await ofOthers(directory)).toBe(1)
  expect(await ofOthers(root, '..')).toBe(1)
  for (const path of ['.', 'deep', 'deep/er', '../node_modules', '../node_modules/some']) {
    expect([path, await ofOthers(root, path)]).toEqual([path, 5])
  }
  for (const path of ['deep/er/a.js', '../node_modules/some/index.js']) {
    expect([path, await ofOthers(root, path)]).toEqual([path, 4])
  }
})

it('unpacks again what an earlier program has closed to others', async () => {
  const [directory, chunks] = [await freshFolder(), new Chunks()]
  const manifest = await revision(chunks, { 'a.js': '1' })
  const { root } = await (await opened(directory)).hold(manifest, chunks.read)
  await chmod(join(root, '..'), 0o755)
  await opened(directory)
  expect(await ofOthers(root, '..')).toBe(1)
  await chmod(root, 0o700)
  const reads = chunks.reads
  const again = await (await opened(directory)).hold(manifest, chunks.read)
  expect([chunks.reads - reads, await ofOthers(again.root)]).toEqual([1, 5])
})
