/** Package archives: what they are made of comes back, and nothing that a liar packs gets out. */

import { execFile } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { readdir, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { zstdCompressSync, zstdDecompressSync } from 'node:zlib'

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import { archiveOf } from '../../../src/revision/archive/archive.ts'
import type { Archive } from '../../../src/revision/archive/archive.ts'
import { headerOf, paddingOf, tarEnd } from '../../../src/revision/archive/tar-header.ts'
import type { TreeEntry } from '../../../src/revision/archive/tar-header.ts'
import { unpack } from '../../../src/revision/cache/unpack.ts'
import type { ManifestArchive } from '../../../src/revision/manifest.ts'
import { Chunks, freshFolder, readTree, sourcesIn, writeTree } from './trees.ts'
import type { Leaf, Leaves } from './trees.ts'
import { expectAlways } from '../../support/expect-always.ts'

const step = fc.stringMatching(/^[a-z0-9é@_. -]{1,60}$/)
  .filter((text) => text !== '.' && text !== '..')
const path = fc.array(step, { minLength: 1, maxLength: 6 }).map((steps) => steps.join('/'))
  .filter((text) => Buffer.byteLength(text) <= 240)
const leaf: fc.Arbitrary<Leaf> = fc.oneof(fc.string({ maxLength: 2_000 }),
  fc.string().map((program) => ({ program })), step.map((link) => ({ link })))
const tree: fc.Arbitrary<Leaves> = fc.dictionary(path, leaf, { maxKeys: 12 })
  .filter((leaves) => {
    const keys = Object.keys(leaves).map((each) => each.normalize('NFC').toLowerCase())
    return new Set(keys).size === keys.length
      && !keys.some((one) => keys.some((other) => other.startsWith(`${one}/`)))
  })

describe('an archive', () => {
  it('gives the tree back that it was made of', async () => {
    await expectAlways(fc.asyncProperty(tree, async (leaves) => {
      const [from, to] = [await freshFolder(), join(await freshFolder(), 'tree')]
      await writeTree(from, leaves)
      const chunks = new Chunks()
      await unpack([chunks.add(await archiveOf(await sourcesIn(from)))], to, chunks.read)
      expect(await readTree(to)).toEqual(await readTree(from))
    }))
  })

  it('has the same bytes whatever the order and the times of its files', async () => {
    await expectAlways(
      fc.asyncProperty(tree, fc.integer({ min: 0, max: 2e9 }), async (leaves, time) => {
        const [one, other] = [await freshFolder(), await freshFolder()]
        await writeTree(one, leaves)
        await writeTree(other, Object.fromEntries(Object.entries(leaves).toReversed()))
        for (const entry of await sourcesIn(other)) {
          if (entry.kind === 'file') await utimes(entry.file, time, time)
        }
        const [first, second] = [await archiveOf(await sourcesIn(one)),
          await archiveOf((await sourcesIn(other)).toReversed())]
        expect(second).toEqual(first)
      }),
    )
  })

  it('is a tar file for other programs as well', async () => {
    const [from, to] = [await freshFolder(), await freshFolder()]
    const long = `${'deep/'.repeat(30)}${'x'.repeat(95)}`
    await writeTree(from, { [long]: 'far', [`long/${'y'.repeat(150)}`]: 'name',
      'ümlaut/é.txt': 'text', 'bin/run': { program: '#!' }, 'a/link': { link: '../bin/run' },
      'far-link': { link: `${'deep/'.repeat(30)}${'x'.repeat(95)}` } })
    const { chunks } = await archiveOf(await sourcesIn(from))
    const file = join(to, 'archive.tar')
    await writeFile(file, zstdDecompressSync(Buffer.concat(chunks.map(({ data }) => data))))
    await promisify(execFile)('tar', ['xf', file, '--one-top-level=out'], { cwd: to })
    expect(await readTree(join(to, 'out'))).toEqual(await readTree(from))
  })

  it('has chunks of 4 MiB, each named by its hash', async () => {
    const folder = await freshFolder()
    await writeFile(join(folder, 'large'), randomBytes(9_000_000))
    const { chunks } = await archiveOf(await sourcesIn(folder))
    expect(chunks.map(({ data }) => data.length).slice(0, -1)).toEqual([4_194_304, 4_194_304])
    expect(chunks.map(({ sha256 }) => sha256)).toEqual(chunks.map(({ data }) => hashOf(data)))
  })

  it('is not made of paths that some file systems confuse', async () => {
    const folder = await freshFolder()
    await writeTree(folder, { 'Read': 'a', 'read': 'b' })
    await expect(archiveOf(await sourcesIn(folder))).rejects
      .toMatchObject({ code: 'ambiguous_path' })
  })
})

/** One that a liar made: its manifest is right, and its tar file is not. */
type Fields = Partial<{ type: string; path: string; target: string; content: string }>

/** A header that no writer of ours makes, with a right check sum. */
function raw({ type = '0', path = 'a', target = '', content = '' }: Fields): Buffer[] {
  const block = headerOf({ kind: 'file', path: 'x', executable: false, bytes: content.length })
  block.fill(0, 0, 100).write(path)
  block.write(type, 156)
  block.write(target, 157)
  block.fill(' ', 148, 156)
  const sum = block.reduce((total, byte) => total + byte, 0)
  block.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148)
  return [block, Buffer.from(content), paddingOf(content.length)]
}

function file(path: string, content = 'x'): Buffer[] {
  const entry: TreeEntry = { kind: 'file', path, executable: false, bytes: content.length }
  return [headerOf(entry), Buffer.from(content), paddingOf(content.length)]
}

function link(path: string, target: string): Buffer[] {
  return [headerOf({ kind: 'link', path, target })]
}

function hashOf(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex')
}

function packed(files: number, ...blocks: readonly Buffer[]): Archive {
  return ofTar(files, Buffer.concat([...blocks, tarEnd]))
}

function ofTar(files: number, tar: Buffer): Archive {
  const data = zstdCompressSync(tar)
  return { hash: hashOf(tar), bytes: tar.length, files, chunks: [{ sha256: hashOf(data), data }] }
}

const attacks: Readonly<Record<string, readonly [code: string, archive: () => Archive]>> = {
  'a path that goes up': ['escapes', () => packed(1, ...file('../out'))],
  'a path that goes up in the middle': ['escapes', () => packed(1, ...file('a/../../out'))],
  'an absolute path': ['escapes', () => packed(1, ...file('/etc/out'))],
  'a path with an empty step': ['bad_path', () => packed(1, ...file('a//b'))],
  'a path with a step that stays': ['bad_path', () => packed(1, ...file('./a'))],
  'a path with a backslash': ['bad_path', () => packed(1, ...file('..\\out'))],
  'a path with a line end': ['bad_path', () => packed(1, ...file('a\rb'))],
  'a path of 256 bytes': ['bad_path', () => packed(1, ...file('x'.repeat(256)))],
  'a path of 10 000 bytes': ['not_canonical', () => packed(1, ...file('x'.repeat(10_000)))],
  'a link out': ['escapes', () => packed(1, ...link('a', '../out'))],
  'a link to the folder above': ['escapes', () => packed(1, ...link('a', '..'))],
  'a link to the folder above, from a folder': ['escapes',
    () => packed(1, ...link('a/b', '../..'))],
  'an absolute link': ['escapes', () => packed(1, ...link('a', '/etc/passwd'))],
  'a link that goes down and up': ['escapes', () => packed(1, ...link('a', 'b/../../out'))],
  'a link to nothing': ['escapes', () => packed(1, ...link('a', ''))],
  'a file through a link': ['ambiguous_path',
    () => packed(2, ...link('a', 'b'), ...file('a/evil'))],
  'a link in the place of a folder': ['ambiguous_path',
    () => packed(2, ...file('A/x'), ...link('a', 'b'))],
  'a file below a file': ['ambiguous_path', () => packed(2, ...file('a'), ...file('a/b'))],
  'names that differ in case': ['ambiguous_path', () => packed(2, ...file('A'), ...file('a'))],
  'folders that differ in case': ['ambiguous_path',
    () => packed(2, ...file('A/x'), ...file('a/y'))],
  'names that differ in composition': ['ambiguous_path',
    () => packed(2, ...file('e\u0301'), ...file('\u00e9'))],
  'a path twice': ['not_canonical', () => packed(2, ...file('a'), ...file('a'))],
  'paths that are not sorted': ['not_canonical', () => packed(2, ...file('b'), ...file('a'))],
  'a hard link out': ['forbidden_kind',
    () => packed(1, ...raw({ type: '1', target: '/etc/passwd' }))],
  'a character device': ['forbidden_kind', () => packed(1, ...raw({ type: '3' }))],
  'a block device': ['forbidden_kind', () => packed(1, ...raw({ type: '4' }))],
  'a pipe': ['forbidden_kind', () => packed(1, ...raw({ type: '6' }))],
  'a long name of GNU tar': ['forbidden_kind',
    () => packed(1, ...raw({ type: 'L', content: 'name' }))],
  'global records': ['forbidden_kind',
    () => packed(1, ...raw({ type: 'g', content: '9 path=x\n' }))],
  'records before nothing': ['forbidden_kind',
    () => packed(1, ...raw({ type: 'x', content: '9 path=x\n' }))],
  'a path that is not UTF-8': ['bad_path', () => {
    const [block] = raw({})
    block![0] = 0xff
    return packed(1, block!)
  }],
  'a wrong check sum': ['not_canonical', () => {
    const [block, ...rest] = file('a')
    block![148] = 0x31
    return packed(1, block!, ...rest)
  }],
  'a file that may become its owner': ['not_canonical', () => {
    const [block, ...rest] = file('a')
    block!.write('0004755', 100)
    return packed(1, block!, ...rest)
  }],
  'bytes after a file': ['not_canonical', () => {
    const [header, content] = file('a')
    return packed(1, header!, content!, Buffer.alloc(511, 1))
  }],
  'bytes after the end': ['too_large', () => {
    const whole = packed(1, ...file('a'))
    const longer = ofTar(1, Buffer.concat([...file('a'), tarEnd, Buffer.alloc(512)]))
    return { ...longer, bytes: whole.bytes }
  }],
  'a tar file that is cut off in a file': ['cut_off',
    () => ofTar(1, Buffer.concat(file('a', 'x'.repeat(2_000))).subarray(0, 1_000))],
  'a tar file without its end': ['cut_off', () => ofTar(1, Buffer.concat(file('a')))],
  'an empty tar file': ['cut_off', () => ofTar(0, Buffer.alloc(0))],
  'a compressed file that is cut off': ['cut_off', () => {
    const { chunks: [chunk], ...archive } = packed(1, ...file('a'))
    const data = chunk!.data.subarray(0, -8)
    return { ...archive, chunks: [{ sha256: hashOf(data), data }] }
  }],
  'what is not compressed': ['not_canonical', () => {
    const data = Buffer.from('a tar file, or not')
    return { ...packed(1, ...file('a')), chunks: [{ sha256: hashOf(data), data }] }
  }],
  'a zstd bomb': ['too_large',
    () => ({ ...packed(1, ...file('a', 'x'.repeat(50_000_000))), bytes: 10_000 })],
  'more files than declared': ['too_large', () => packed(1, ...file('a'), ...file('b'))],
  'fewer files than declared': ['wrong_hash', () => packed(2, ...file('a'))],
  'another archive': ['wrong_hash',
    () => ({ ...packed(1, ...file('a')), hash: hashOf(Buffer.from('b')) })],
  'a chunk with other bytes': ['wrong_hash', () => {
    const { chunks: [chunk], ...archive } = packed(1, ...file('a'))
    return { ...archive, chunks: [{ ...chunk!, data: Buffer.alloc(chunk!.data.length) }] }
  }],
}

describe('unpacking', () => {
  it.each(Object.entries(attacks))('refuses %s', async (_, [code, make]) => {
    const [folder, chunks] = [await freshFolder(), new Chunks()]
    const archive: ManifestArchive = chunks.add(make())
    await expect(unpack([archive], join(folder, 'tree'), chunks.read)).rejects
      .toMatchObject({ name: 'RevisionError', code })
    expect(await readdir(folder)).toEqual(['tree'])
  })

  it('stops at the declared bytes, without reading the rest of a bomb', async () => {
    const [folder, chunks] = [await freshFolder(), new Chunks()]
    const declared = 1_000_000
    const bomb = packed(1, ...file('a', 'x'.repeat(100_000_000)))
    const before = process.memoryUsage().rss
    await expect(
      unpack([chunks.add({ ...bomb, bytes: declared })], join(folder, 'tree'), chunks.read),
    ).rejects.toMatchObject({ code: 'too_large' })
    const written = (await readTree(folder))['tree/a']
    expect(String(written ?? '').length).toBeLessThanOrEqual(declared)
    expect(process.memoryUsage().rss - before).toBeLessThan(80_000_000)
  })

  it('refuses a package whose place is below a file of another', async () => {
    const [folder, chunks] = [await freshFolder(), new Chunks()]
    const archives = [await chunks.addTree({ 'lib': 'x' }, 'package', 'node_modules/a'),
      await chunks.addTree({ 'x.js': 'y' }, 'package', 'node_modules/a/LIB')]
    await expect(unpack(archives, join(folder, 'tree'), chunks.read)).rejects
      .toMatchObject({ code: 'ambiguous_path' })
  })

  it('puts no archive where none may lie, whatever is in it', async () => {
    const [folder, chunks] = [await freshFolder(), new Chunks()]
    for (const [kind, place] of [['own', '../outside'], ['own', 'src'], ['own', '/tmp/outside'], [
      'package',
      '../node_modules/a',
    ], ['package', 'src'], ['package', ''], ['package', `${'0'.repeat(64)}/node_modules/a`], [
      'links',
      'node_modules/a',
    ]] as const) {
      const archive = await chunks.addTree({ 'a.js': 'x' }, kind, place)
      await expect(unpack([archive], join(folder, 'in/tree'), chunks.read), `${kind} ${place}`)
        .rejects.toMatchObject({ code: 'escapes' })
    }
    expect(await readdir(folder)).toEqual(['in'])
    expect(await readdir(join(folder, 'in/tree'))).toEqual([])
  })

  it('puts no file in the place of the links between packages', async () => {
    const [folder, chunks] = [await freshFolder(), new Chunks()]
    for (const leaves of [{ 'node_modules/a/index.js': 'evil' }, {
      [`${'0'.repeat(64)}/node_modules/a`]: { link: 'b' },
    }]) {
      const archive = await chunks.addTree(leaves, 'links')
      await expect(unpack([archive], join(folder, 'tree'), chunks.read)).rejects
        .toMatchObject({ code: 'escapes' })
    }
  })

  it('leaves nothing that can be written to', async () => {
    const [folder, chunks] = [await freshFolder(), new Chunks()]
    const archive = await chunks.addTree({ 'a': 'x', 'b': { program: '#!' } })
    await unpack([archive], join(folder, 'tree'), chunks.read)
    const { stdout } = await promisify(execFile)('stat', ['-c', '%a', join(folder, 'tree/a'),
      join(folder, 'tree/b')])
    expect(stdout).toBe('444\n555\n')
  })
})
