/** The manifest of a revision: its hash, and what is refused of others. */

import { expect, it } from 'vitest'

import { readManifest, revisionHash } from '../../../src/revision/manifest.ts'
import type { Manifest, ManifestArchive } from '../../../src/revision/manifest.ts'
import { manifestOf } from './trees.ts'

const own: ManifestArchive = { kind: 'own', path: '', hash: 'a'.repeat(64), bytes: 2_048, files: 1,
  chunks: [{ sha256: 'b'.repeat(64), bytes: 100 }] }
const some: ManifestArchive = { ...own, kind: 'package', path: 'node_modules/some' }
const manifest = manifestOf([own, some])

it('names a revision by all of its manifest but where it comes from', () => {
  const elsewhere = { commit: 'abc', branch: 'main', dirty: true }
  expect(revisionHash({ ...manifest, source: elsewhere })).toBe(revisionHash(manifest))
  const reordered = Object.fromEntries(Object.entries(manifest).toReversed()) as Manifest
  expect(revisionHash(reordered)).toBe(revisionHash(manifest))
  expect(revisionHash({ ...manifest, env: { A: '1' } })).not.toBe(revisionHash(manifest))
  expect(revisionHash({ ...manifest, config: 'other.json' })).not.toBe(revisionHash(manifest))
})

it('takes what it gave', () => {
  expect(readManifest(JSON.parse(JSON.stringify(manifest)))).toEqual(manifest)
})

const faults: Readonly<Record<string, readonly [code: string, value: unknown]>> = {
  'no object': ['bad_manifest', 'text'],
  'another version': ['bad_manifest', { ...manifest, version: 2 }],
  'a field that nobody knows': ['bad_manifest', { ...manifest, extra: 1 }],
  'no own files': ['bad_manifest', manifestOf([some])],
  'own files twice': ['bad_manifest', manifestOf([own, own])],
  'two packages at a place': ['bad_manifest', manifestOf([own, some, some])],
  'a package that lies among own files': ['bad_manifest',
    manifestOf([own, { ...some, path: 'src' }])],
  'a package in the place of another revision': ['bad_manifest',
    manifestOf([own, { ...some, path: `${'c'.repeat(64)}/node_modules/some` }])],
  'a package in the place of one that is being unpacked': ['bad_manifest',
    manifestOf([own, { ...some, path: `${'c'.repeat(64)}.new/node_modules/some` }])],
  'own files with a place': ['bad_manifest', manifestOf([{ ...own, path: 'node_modules/some' }])],
  'a package outside': ['escapes', manifestOf([own, { ...some, path: '../node_modules/some' }])],
  'a configuration outside': ['escapes', { ...manifest, config: '../langgraph.json' }],
  'a project outside': ['escapes', { ...manifest, root: '/etc' }],
  'a graph outside': ['escapes', { ...manifest,
    graphs: [{ graph_id: 'a', path: '../a.ts', export: 'graph' }] }],
  'a hash that is none': ['bad_manifest', manifestOf([{ ...own, hash: '../../x' }])],
  'a negative size': ['bad_manifest', manifestOf([{ ...own, bytes: -1 }])],
  'a size that is no number': ['bad_manifest', manifestOf([{ ...own, bytes: Infinity }])],
  'a chunk that is too large': ['bad_manifest',
    manifestOf([{ ...own, chunks: [{ sha256: 'b'.repeat(64), bytes: 5_000_000 }] }])],
  'too many archives': ['bad_manifest',
    manifestOf([own, ...Array.from({ length: 10_000 }, () => some)])],
  'more bytes than the limit': ['too_large', manifestOf([{ ...own, bytes: 1_000_000_001 }])],
  'more compressed bytes than the limit': ['too_large',
    manifestOf([{ ...own,
      chunks: Array.from({ length: 63 }, () => ({ sha256: 'b'.repeat(64), bytes: 4_000_000 })) }])],
  'more files than the limit': ['too_large', manifestOf([{ ...own, files: 50_001 }])],
}

it.each(Object.entries(faults))('refuses a manifest with %s', (_, [code, value]) => {
  expect(() => readManifest(value)).toThrow(expect.objectContaining({ code }))
})

it.each<[string, unknown]>([
  ['archives.1.hash must match pattern', manifestOf([own, { ...some, hash: 'x' }])],
  ['archives must not have fewer', manifestOf([])],
  ['archives must not have more', manifestOf([own, ...Array.from({ length: 10_000 }, () => some)])],
  ['archives must be array', { ...manifest, archives: 1 }],
  ['graphs.0.path must be string', { ...manifest,
    graphs: [{ graph_id: 'a', export: 'g', path: 1 }] }],
  ['it must be object', 'text'],
])('says what is wrong: %s', (message, value) => {
  expect(() => readManifest(value)).toThrow(message)
})

/** The shortest of some times, so that other work on the machine does not count. */
function shortestMs(work: () => unknown): number {
  const times = Array.from({ length: 5 }, () => {
    const beganMs = performance.now()
    try {
      work()
    } catch {
      // The time that a fault takes counts as well.
    }
    return performance.now() - beganMs
  })
  return Math.min(...times)
}

it('checks thousands of archives, and finds a fault in them, in the time of some parses', () => {
  const many = Array.from({ length: 9_000 },
    (_, at) => ({ ...some, path: `node_modules/package-${at}` }))
  const text = JSON.stringify(manifestOf([own, ...many]))
  const boundMs = 10 * shortestMs(() => JSON.parse(text))
  for (const archives of [[own, ...many], [own, ...many, { ...some, hash: 'x' }], [...many, own]]) {
    expect(shortestMs(() => readManifest(manifestOf(archives)))).toBeLessThan(boundMs)
  }
  const withoutGraphs = { ...manifestOf([own, ...many]), graphs: [] }
  expect(shortestMs(() => readManifest(withoutGraphs))).toBeLessThan(boundMs)
})
