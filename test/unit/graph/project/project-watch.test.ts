/** A project that changes while it is served. */

import { appendFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

import { describe, expect, it, onTestFinished } from 'vitest'

import { systemEnv } from '../../../../cluster/index.ts'
import type { HeddleError } from '../../../../src/errors.ts'
import { ProjectComponents } from '../../../../src/graph/components/project-components.ts'
import { compileProject } from '../../../../src/graph/project/project-compiler.ts'
import type { CompiledProject } from '../../../../src/graph/project/project-compiler.ts'
import { watchProject } from '../../../../src/graph/project/project-watch.ts'
import { readProject } from '../../../../src/graph/project/project.ts'
import { writeFiles, writeProject } from './project-files.ts'
import type { ProjectFiles } from './project-files.ts'

const files = {
  'langgraph.json': { graphs: { agent: './src/agent.ts:graph' }, env: '.env' },
  '.env': 'KEY=one',
  'src/agent.ts': `import { word } from './deep/word'; export const graph = word`,
  'src/deep/word.ts': `export const word: string = 'first'`,
  'src/unused.ts': '',
}

type Received = { readonly changed: CompiledProject } | { readonly failed: HeddleError }

/**
 * Watches a project. `received` returns the listener's calls one after another; `looked` resolves
 * when the watch looks at the project for the first time.
 */
async function watching(initial: ProjectFiles = files) {
  const root = await writeProject(initial)
  const project = await readProject(root)
  const emitted: Received[] = []
  let notify = () => {}
  const keep = (event: Received) => {
    emitted.push(event)
    notify()
  }
  const compiled = await compileProject(project)
  const system = systemEnv({ level: 'silent' })
  let look = () => {}
  const looked = new Promise<void>((resolve) => {
    look = resolve
  })
  const env = { ...system, after: (ms: number, fn: () => void) =>
    system.after(ms, () => {
      fn()
      look()
    }) }
  const components = await ProjectComponents.open(project)
  const stop = watchProject(env, { project, compiled, components }, {
    changed: (changed) => keep({ changed }),
    failed: (failed) => keep({ failed }),
  })
  onTestFinished(stop)
  const received = async () => {
    while (emitted.length === 0)
      await new Promise<void>((resolve) => {
        notify = resolve
      })
    return emitted.shift()
  }
  const code = async (file: string) => {
    const event = await received()
    if (event === undefined || 'failed' in event) throw event?.failed
    return event.changed.sources.get(pathToFileURL(join(root, file)).href)?.source
  }
  const write = (changes: ProjectFiles) => writeFiles(root, changes)
  return { root, stop, emitted, received, code, write, looked }
}

describe('a watched project', () => {
  it('is compiled again if one of its files changes, however deep', async () => {
    const { write, code } = await watching()
    await write({ 'src/deep/word.ts': `export const word: string = 'second'` })
    expect(await code('src/deep/word.ts')).toContain('second')
    await write({
      'src/new/third.ts': `export const graph = 'third'`,
      'src/agent.ts': `export { graph } from './new/third'`,
    })
    expect(await code('src/new/third.ts')).toContain('third')
    await write({ 'src/new/third.ts': `export const graph = 'fourth'` })
    expect(await code('src/new/third.ts')).toContain('fourth')
  })

  it('is compiled again whether a file is replaced or written in place', async () => {
    const { root, write, code } = await watching()
    await write({ 'src/agent.ts': `export const graph = 'replaced'` })
    expect(await code('src/agent.ts')).toContain('replaced')
    await appendFile(join(root, 'src/agent.ts'), `; export const more = 'appended'`)
    expect(await code('src/agent.ts')).toContain('appended')
  })

  it('is read again if its langgraph.json or its dotenv file changes', async () => {
    const { write, received } = await watching()
    await write({ '.env': 'KEY=two' })
    expect(await received()).toMatchObject({ changed: { env: { KEY: 'two' } } })
    await write({
      'langgraph.json': {
        graphs: { agent: './src/agent.ts:graph', more: './src/unused.ts:graph' },
      },
    })
    expect(await received()).toMatchObject({
      changed: { env: {}, graphs: [{ graphId: 'agent' }, { graphId: 'more' }] },
    })
  })

  it('is not compiled again if nothing changed that it uses', async () => {
    const { root, write, code, emitted, looked } = await watching()
    await write({ 'src/unused.ts': 'syntax error', 'src/deep/word.ts': files['src/deep/word.ts'] })
    await looked
    // This takes longer than the watch does, so that it would have called the listener by now.
    for (const _ of [1, 2]) await compileProject(await readProject(root))
    expect(emitted).toEqual([])
    await write({ 'src/agent.ts': `export const graph = 'real'` })
    expect(await code('src/agent.ts')).toContain('real')
  })

  it('reports an error with its place in the code, and recovers once it is fixed', async () => {
    const { write, received, code } = await watching()
    await write({ 'src/agent.ts': `export const graph = (` })
    expect(await received()).toMatchObject({
      failed: { code: 'graph_failed', message: 'src/agent.ts:1:23: Unexpected end of file' },
    })
    await write({ 'langgraph.json': '{' })
    expect(await received()).toMatchObject({ failed: { code: 'invalid' } })
    await write({ 'langgraph.json': files['langgraph.json'] })
    expect(await received()).toMatchObject({ failed: { code: 'graph_failed' } })
    await write({ 'src/agent.ts': `export const graph = 'mended'` })
    expect(await code('src/agent.ts')).toContain('mended')
  })

  it('recovers if a new file resolves a missing import', async () => {
    const { root, write, received, code } = await watching()
    await rm(join(root, 'src/deep/word.ts'))
    expect(await received()).toMatchObject({
      failed: { message: 'src/agent.ts:1:22: Could not resolve "./deep/word"' },
    })
    await write({ 'src/deep/word.js': `export const word = 'found'` })
    expect(await code('src/deep/word.js')).toContain('found')
  })

  it('is watched even if it could not be compiled at the start', async () => {
    const { write, code } = await watching({ ...files,
      'src/agent.ts': `export { graph } from './gone'` })
    await write({ 'src/gone.ts': `export const graph = 'mended'` })
    expect(await code('src/gone.ts')).toContain('mended')
  })

  it('is not reported once the watch is stopped', async () => {
    const quiet = await watching()
    const other = await watching()
    quiet.stop()
    await quiet.write({ 'src/agent.ts': `export const graph = 'late'` })
    await other.write({ 'src/agent.ts': `export const graph = 'later'` })
    await other.received()
    expect(quiet.emitted).toEqual([])
  })
})
