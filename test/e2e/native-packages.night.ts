/** By night: the most used packages with native code, built and loaded as a deployment does. */

import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

import { afterAll, beforeAll, expect, it } from 'vitest'

import { heddleProcess } from '../support/command.ts'

/** Their code comes with the package, or with one for the platform: they have to load. */
const complete = ['argon2', 'bcrypt', 'bufferutil', 'utf-8-validate', 'classic-level',
  'sodium-native', '@node-rs/argon2', '@node-rs/bcrypt', '@node-rs/crc32', '@node-rs/xxhash',
  '@napi-rs/canvas', 'sharp', '@swc/core', 'lightningcss', '@parcel/watcher', 'msgpackr-extract',
  'lmdb', 'snappy', '@resvg/resvg-js', 'libsql', 'oxc-parser', 'zeromq', '@duckdb/node-api',
  'onnxruntime-node']
/**
 * Their code is made by a script, which is not run, or depends on the machine and the registry:
 * they load, or say why not.
 */
const others = ['cbor-extract', 'tree-sitter', 'better-sqlite3', 'sqlite3', 're2', 'hnswlib-node']

const engine = '@langchain/langgraph'
const installMs = 120_000
let root: string
/** Why a package could not be installed, by name. */
const absent = new Map<string, string>()

async function install(...names: readonly string[]): Promise<void> {
  await promisify(execFile)('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts',
    ...names], { cwd: root, timeout: installMs })
}

/** Installs them together or, if one of them cannot be, one by one. */
async function installAll(names: readonly string[]): Promise<void> {
  const together = await install(...names).then(() => true, () => false)
  if (together) return
  for (const name of names) {
    await install(name).catch(({ message }: Error) => absent.set(name, message))
  }
}

const write = (file: string, text: string) => writeFile(join(root, file), text)

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'heddle-native-'))
  await write('package.json', JSON.stringify({ name: 'shop', private: true, type: 'module' }))
  await install(engine)
  await installAll([...complete, ...others])
}, 30 * installMs)

afterAll(() => rm(root, { recursive: true, force: true }))

/** How a project ends that imports the package: `loads`, or the sentence that refuses it. */
async function outcomeOf(name: string): Promise<string> {
  if (absent.has(name)) return `is not installed: ${absent.get(name)}`
  await write('package.json',
    JSON.stringify({ name: 'shop', private: true, type: 'module',
      dependencies: { [engine]: '*', [name]: '*' } }))
  await write('langgraph.json', '{"graphs": {"agent": "./agent.ts:graph"}}')
  await write('agent.ts', `import * as found from '${name}'
    import { MessagesAnnotation, StateGraph } from '${engine}'
    export const graph = new StateGraph(MessagesAnnotation)
      .addNode('count', () => ({ messages: [String(Object.keys(found).length)] }))
      .addEdge('__start__', 'count').compile()`)
  const { status, stderr } = await heddleProcess('build', root, '--check')
  return status === 0 ? 'loads' : stderr.trim()
}

it('The thirty most used load, or are refused with a sentence.', async () => {
  const rows = new Map<string, string>()
  for (const name of [...complete, ...others]) rows.set(name, await outcomeOf(name))
  console.log([...rows].map((row) => `${row[0].padEnd(20)}${row[1]}`).join('\n'))
  for (const [name, outcome] of rows) {
    expect([name, outcome]).not.toEqual([name, expect.stringMatching(/\n +at /)])
  }
  expect(complete.filter((name) => rows.get(name) !== 'loads')).toEqual([])
}, 30 * 60_000)
