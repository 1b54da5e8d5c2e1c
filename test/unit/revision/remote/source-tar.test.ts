/** Tar files that others made: what is read of them, and what is refused. */

import { execFileSync } from 'node:child_process'
import { gzipSync } from 'node:zlib'

import { describe, expect, it } from 'vitest'

import { RevisionError } from '../../../../src/revision/index.ts'
import { readSourceTar } from '../../../../src/revision/remote/source-tar.ts'
import { freshFolder, writeTree } from '../trees.ts'
import { gzippedTar, tarOf } from '../../../support/tar-files.ts'

const limits = { unpackedBytes: 100_000, files: 10 }

async function* inPieces(bytes: Buffer): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += 100) yield bytes.subarray(at, at + 100)
}

/** The files that are read; texts of those that can be run end with a star. */
async function readAll(bytes: Buffer): Promise<Record<string, string>> {
  const found: Record<string, string> = {}
  for await (const { path, executable, content } of readSourceTar(inPieces(bytes), limits)) {
    const parts: Buffer[] = []
    for await (const part of content) parts.push(part)
    found[path] = Buffer.concat(parts).toString() + (executable ? '*' : '')
  }
  return found
}

const refusal = (bytes: Buffer) =>
  readAll(bytes).then(() => 'read', (error: unknown) =>
    error instanceof RevisionError ? error.code : error)

describe('a tar file of a project', () => {
  it('is read as tar writes it, with long names and without what is never packed', async () => {
    const folder = await freshFolder()
    const long = `${'d'.repeat(90)}/${'e'.repeat(90)}/${'ü'.repeat(20)}.ts`
    await writeTree(folder, { 'a.ts': 'a', [long]: 'long', 'run.sh': { program: 'run' },
      '.env': 'SECRET=1', 'node_modules/evil/index.js': 'evil', 'src/.npmrc': 'x',
      'b/key.pem': 'k' })
    for (const format of ['gnu', 'pax', 'ustar']) {
      const skipped = format === 'ustar' ? [`--exclude=./${long}`] : []
      const tar = execFileSync('tar', ['-C', folder, `--format=${format}`, ...skipped, '-czf', '-',
        '.'])
      expect(await readAll(tar)).toEqual({ 'a.ts': 'a', 'run.sh': 'run*',
        ...format !== 'ustar' && { [long]: 'long' } })
    }
  })

  it.each([
    ['escapes', { path: '../a.ts' }],
    ['escapes', { path: '/etc/passwd' }],
    ['escapes', { path: 'a/../../b' }],
    ['bad_path', { path: 'a//b' }],
    ['bad_path', { path: 'a\\b' }],
    ['bad_path', { path: '' }],
    ['forbidden_kind', { path: 'a', type: '2', link: '/etc/passwd' }],
    ['forbidden_kind', { path: 'a', type: '1', link: 'b' }],
    ['forbidden_kind', { path: 'a', type: '3' }],
    ['forbidden_kind', { path: 'a', type: '4' }],
    ['forbidden_kind', { path: 'a', type: '6' }],
    ['forbidden_kind', { path: 'a', type: 'S' }],
    ['cut_off', { path: 'a', bytes: 50_000 }],
    ['too_large', { path: 'a', bytes: 2 ** 32 }],
    ['too_large', { path: 'PaxHeader', type: 'x', bytes: 2 ** 20 }],
    ['not_canonical', { path: 'PaxHeader', type: 'x', text: '0 path=a\n' }],
    ['not_canonical', { path: 'PaxHeader', type: 'x', text: '99 path=a\n' }],
    ['not_canonical', { path: 'PaxHeader', type: 'x', text: '12 size=-1\n\n' }],
  ] as const)('is refused: %s %j', async (code, entry) => {
    expect(await refusal(gzippedTar({ path: 'first', text: 'x' }, entry))).toBe(code)
  })

  it('is refused if a name of pax or of GNU leads out of the tree', async () => {
    expect(
      await refusal(gzippedTar({ path: 'P', type: 'x', text: '13 path=../a\n' }, { path: 'fine' })),
    ).toBe('escapes')
    expect(await refusal(gzippedTar({ path: 'L', type: 'L', text: '../../a\0' }, { path: 'fine' })))
      .toBe('escapes')
  })

  it('is refused if two of its paths are the same, or one is below the other', async () => {
    expect(await refusal(gzippedTar({ path: 'a' }, { path: 'a' }))).toBe('ambiguous_path')
    expect(await refusal(gzippedTar({ path: 'a' }, { path: 'A' }))).toBe('ambiguous_path')
    expect(await refusal(gzippedTar({ path: 'a' }, { path: 'a/b' }))).toBe('ambiguous_path')
  })

  it('is refused if it is no tar file, or no gzip', async () => {
    const tar = tarOf({ path: 'a', text: 'x' })
    expect(await refusal(tar)).toBe('not_canonical')
    expect(await refusal(gzipSync(Buffer.alloc(1_000, 'x')))).toBe('not_canonical')
    expect(await refusal(gzippedTar({ path: 'a', text: 'x' }).subarray(0, 40))).toBe('cut_off')
    expect(await refusal(Buffer.alloc(0))).toBe('cut_off')
    tar[0] = 0x62
    expect(await refusal(gzipSync(tar))).toBe('not_canonical')
  })

  it('is refused as soon as it is larger than allowed, or has more files', async () => {
    const bomb = gzipSync(
      Buffer.concat([tarOf({ path: 'a', bytes: 2 * 10 ** 7 }).subarray(0, 512),
        Buffer.alloc(2 * 10 ** 7)]),
    )
    expect(bomb.length).toBeLessThan(limits.unpackedBytes * 2)
    expect(await refusal(bomb)).toBe('too_large')
    const skipped = gzipSync(Buffer.concat([
      tarOf({ path: '.git/a', bytes: 2 * 10 ** 7 }).subarray(0, 512),
      Buffer.alloc(2 * 10 ** 7),
    ]))
    expect(await refusal(skipped)).toBe('too_large')
    const many = Array.from({ length: 11 }, (_, index) => ({ path: `f${index}` }))
    expect(await refusal(gzippedTar(...many))).toBe('too_large')
    const folders = Array.from({ length: 31 }, (_, index) => ({ path: `f${index}`, type: '5' }))
    expect(await refusal(gzippedTar(...folders))).toBe('too_large')
  })
})
