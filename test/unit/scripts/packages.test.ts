/** The packages of a server: those that it imports, and no others. */

import { readdirSync, readFileSync } from 'node:fs'
import { builtinModules } from 'node:module'
import { join } from 'node:path'

import { expect, it } from 'vitest'

import { readSource, repositoryFiles, root } from '../../support/source-tree.ts'

const { dependencies, devDependencies } = JSON.parse(
  readFileSync(join(root, 'package.json'), 'utf8'),
) as Readonly<Record<'dependencies' | 'devDependencies', Readonly<Record<string, string>>>>

/** Packages that packages of a server import and leave to us to install. */
const peers = Object.keys(dependencies).flatMap((name) => {
  const text = readFileSync(join(root, 'node_modules', name, 'package.json'), 'utf8')
  return Object.keys((JSON.parse(text) as { peerDependencies?: object }).peerDependencies ?? {})
})

const generated = readdirSync(join(root, 'proto/gen'), { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.ts')).map((name) => join('proto/gen', name))
const files = [
  ...repositoryFiles().filter((path) => /^(src|cluster)\/(?!studio\/).*\.ts$/.test(path)),
  ...generated,
]
const imported = new Set(files.map(readSource).flatMap(({ imports }) =>
  imports
    .filter(({ ours, target }) =>
      !ours && !target.startsWith('node:')
      && !builtinModules.includes(target)
    )
    .map(({ target }) => target.split('/').slice(0, target.startsWith('@') ? 2 : 1).join('/'))
))

it('A server depends on what it imports, and on nothing of the starter or the tests.', () => {
  expect(Object.keys(dependencies)
    .filter((name) => !imported.has(name) && !peers.includes(name))).toEqual([])
})

it('A server imports nothing that is installed for development only.', () => {
  expect([...imported].filter((name) => !Object.hasOwn(dependencies, name))).toEqual([])
  expect(Object.keys(devDependencies)).toEqual(
    expect.arrayContaining(['langchain', '@langchain/openai', '@langchain/anthropic']),
  )
})
