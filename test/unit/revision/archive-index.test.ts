/** Packages that did not change are not packed again, and those that did are, however they did. */

import { chmod, lstat, readFile, rename, rm, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { describe, expect, it } from 'vitest'

import { buildRevision } from '../../../src/revision/build.ts'
import { platformHere } from '../../../src/revision/closure/platform.ts'
import { freshFolder, writeTree } from './trees.ts'

const engine = '@langchain/langgraph'
const inPackage = (file: string) => `node_modules/${engine}/${file}`
/** As npm does, whatever the content is. */
const packed = new Date('1985-10-26T08:15:00Z')
/** All files of a test are older than this. */
const laterMs = 4_000_000_000_000

/** A project with one package. */
async function project() {
  const folder = await freshFolder()
  await writeTree(folder, {
    'langgraph.json': '{"graphs": {"agent": "./agent.ts:graph"}}',
    'package.json': JSON.stringify({ name: 'shop', dependencies: { [engine]: '1.0.0' } }),
    'package-lock.json': '{}',
    'agent.ts': `import '${engine}'\nexport const graph = 1\n`,
    [inPackage('package.json')]: JSON.stringify({ name: engine, version: '1.0.0' }),
    [inPackage('index.js')]: 'one',
  })
  const at = (file: string) => join(folder, inPackage(file))
  await utimes(at('index.js'), packed, packed)
  const build = async ({ nowMs = laterMs, isRead = true } = {}) => {
    let kept = 0
    const { manifest: { archives } } = await buildRevision({ config: folder,
      platform: platformHere(), index: { nowMs, isRead }, keep: async () => void kept++ })
    return { archives, kept }
  }
  return { folder, build, at, index: join(folder, 'node_modules/.cache/heddle-archives') }
}

describe('a package', () => {
  it('is packed once, and then only the own files are', async () => {
    const { build } = await project()
    const first = await build()
    expect(first.kept).toBe(2)
    for (let again = 0; again < 2; again++) {
      expect(await build()).toEqual({ archives: first.archives, kept: 1 })
    }
    expect(await build({ isRead: false })).toEqual(first)
  })

  it.each<[string, (at: (file: string) => string) => Promise<void>]>([
    ['the content of a file, with its size and time', async (at) => {
      await writeFile(at('index.js'), 'two')
      await utimes(at('index.js'), packed, packed)
    }],
    ['a file that takes the place of another', async (at) => {
      await writeFile(at('other.js'), 'two')
      await utimes(at('other.js'), packed, packed)
      await rename(at('other.js'), at('index.js'))
    }],
    ['a file more', (at) => writeFile(at('more.js'), '')],
    ['a file less', (at) => rm(at('index.js'))],
    ['what may be run', (at) => chmod(at('index.js'), 0o755)],
  ])('is packed again after a change of %s', async (_what, change) => {
    const { build, at } = await project()
    const before = await build()
    await change(at)
    const after = await build()
    expect(after.kept).toBe(2)
    expect(after.archives[1]).not.toEqual(before.archives[1])
    expect(after).toEqual(await build({ isRead: false }))
  })

  it('is packed again if its files were too new to tell changes by their times', async () => {
    const { build, at } = await project()
    const { ctimeMs } = await lstat(at('index.js'))
    for (const [afterMs, kept] of [[2_100, 1], [1_900, 2]] as const) {
      await build({ nowMs: ctimeMs + afterMs, isRead: false })
      expect([afterMs, (await build()).kept]).toEqual([afterMs, kept])
    }
  })
})

describe('what is remembered', () => {
  it('is nothing if it is not whole, or of another version', async () => {
    const { build, index } = await project()
    const first = await build()
    const text = await readFile(index, 'utf8')
    for (const wrong of ['', 'x', text.slice(0, -1), text.replace(/^./, 'x'), '\n[]']) {
      await writeFile(index, wrong)
      expect(await build()).toEqual(first)
    }
    await writeFile(index, text)
    expect((await build()).kept).toBe(1)
  })

  it('is nothing where it cannot be written', async () => {
    const { build, folder } = await project()
    await writeFile(join(folder, 'node_modules/.cache'), '')
    for (let again = 0; again < 2; again++) expect((await build()).kept).toBe(2)
  })
})
