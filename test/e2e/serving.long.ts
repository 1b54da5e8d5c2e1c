/** The starter as a deployment: built, unpacked by a member, and executed in graph processes. */

import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'

import { systemEnv } from '../../cluster/index.ts'
import { runNewCommand } from '../../src/cli/new-command.ts'
import { startGraphProcess } from '../../src/graph/index.ts'
import type { GraphProcess } from '../../src/graph/index.ts'
import { buildRevision, platformHere, RevisionCache } from '../../src/revision/index.ts'
import { virtualEnv } from '../support/env.ts'
import { linkPackages } from '../support/linked-packages.ts'
import { runIn } from '../support/project-command.ts'
import { isNight } from '../support/repeats.ts'
import { ServingWorld } from '../unit/deployment/serving/serving-world.ts'
import { TestHost } from '../unit/graph/project/host-project.ts'

let root: string
let shop: string

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'heddle-serve-'))
  shop = join(root, 'shop')
  expect(await runIn(root, runNewCommand, shop)).toMatchObject({ status: 0, stderr: '' })
  writeFileSync(join(shop, 'package-lock.json'), '{}')
  writeFileSync(join(shop, 'langgraph.json'), JSON.stringify({ graphs: {
    agent: './src/agent.ts:agent',
    show: './src/show.ts:graph',
  }, env: { MODE: 'manifest' } }))
  await linkPackages(shop, shop)
})

afterAll(() => rmSync(root, { recursive: true, force: true }))

/** Builds what the project is now. */
async function build(world: ServingWorld, name: string, answer: string): Promise<void> {
  writeFileSync(join(shop, 'src/show.ts'), `import { MessagesAnnotation, StateGraph } from
    '@langchain/langgraph'
    export const graph = new StateGraph(MessagesAnnotation)
      .addNode('reply', () => {
        console.log('the token is', process.env.TOKEN)
        return { messages: [{ role: 'ai', content: ['${answer}', process.env.MODE,
          process.env.HEDDLE_CANARY].join() }] }
      })
      .addEdge('__start__', 'reply').compile()`)
  const chunks = new Map<string, Buffer>()
  const { manifest } = await buildRevision({ config: shop, platform: platformHere(),
    keep: ({ sha256, data }) => {
      chunks.set(sha256, data)
      return Promise.resolve()
    } })
  const before = world.readChunk
  world.manifests.set(name, manifest)
  world.readChunk = async (sha256) => chunks.get(sha256) ?? await before(sha256)
}

const say = (content: string) => ({ messages: [{ role: 'user', content }] })

it.runIf(isNight)('A member loads, executes, replaces and ends revisions of the starter.',
  async () => {
    process.env['HEDDLE_CANARY'] = 'of the server'
    onTestFinished(() => void delete process.env['HEDDLE_CANARY'])
    const env = systemEnv({ level: 'silent' })
    const world = new ServingWorld()
    const revisionsDirectory = join(root, 'revisions')
    mkdirSync(revisionsDirectory)
    await build(world, 'r1', 'one')
    world.deploy('shop')
    world.secrets.set('id-shop', { TOKEN: 'open-sesame' })
    const started: GraphProcess[] = []
    const serving = await world.open({ env, revisionsDirectory,
      cache: await RevisionCache.open({ directory: revisionsDirectory, bytesMax: 1e10, env }),
      start: async (options) => {
        const graph = await startGraphProcess(options)
        started.push(graph)
        return graph
      } })
    const first = await serving.prepare({ deployment: 'shop', revision: 'r1', envVersion: 0 })
    expect(first).toMatchObject({ kind: 'ready',
      graphs: [{ graphId: 'agent', nodes: ['model', 'tools'] }, { graphId: 'show' }] })

    const inR1 = new TestHost(virtualEnv(), serving.hostOf('acme@shop', 'r1'))
    const talk = inR1.run('agent', say('weather in Paris?'))
    expect(await talk.end).toMatchObject({ status: 'success' })
    expect(JSON.stringify(talk.log.values())).toMatch(/It is \w+ in Paris/)
    const shown = inR1.run('show', say('hello'))
    expect(await shown.end).toMatchObject({ status: 'success' })
    expect(JSON.stringify(shown.log.values())).toContain('one,manifest,')
    expect(JSON.stringify(shown.log.values())).not.toContain('of the server')
    expect((await serving.lines('shop', { limit: 99 })).map(({ text }) => text))
      .toContain('the token is [secret]')

    // A change of the code is loaded beside the revision before, which goes on.
    await build(world, 'r2', 'two')
    world.deploy('shop', { active: 'r2', previous: 'r1' }, ['r1', 'r2'])
    await serving.learn('shop')
    const second = await serving.prepare({ deployment: 'shop', revision: 'r2', envVersion: 0 })
    const inR2 = new TestHost(virtualEnv(), serving.hostOf('acme@shop', 'r2'))
    const changed = inR2.run('show', say('hello'))
    await changed.end
    expect(JSON.stringify(changed.log.values())).toContain('two,manifest,')
    expect(await serving.hostOf('acme@shop', 'r1').schemas('agent'))
      .toMatchObject({ input_schema: { type: 'object' } })
    const times = [first, second].map((one) => one.kind === 'ready' ? Math.round(one.ms) : one)
    console.log('ready after', times, 'ms;', serving.loaded())

    // A process that is killed is replaced when there is work.
    process.kill(started[1]!.pid, 'SIGKILL')
    await expect.poll(() => serving.stats().deaths).toBe(1)
    const again = new TestHost(virtualEnv(), serving.hostOf('acme@shop', 'r2')).run('show',
      say('?'))
    expect(await again.end).toMatchObject({ status: 'success' })
    expect(started).toHaveLength(3)

    // One graph is broken: the revision is refused, with the place.
    const code = readFileSync(join(shop, 'src/agent.ts'), 'utf8')
    writeFileSync(join(shop, 'src/agent.ts'),
      `${code}\nthrow new Error('not ' + process.env.TOKEN)`)
    await build(world, 'r3', 'three')
    world.deploy('shop', {}, ['r1', 'r2', 'r3'])
    expect(await serving.prepare({ deployment: 'shop', revision: 'r3', envVersion: 0 }))
      .toMatchObject({ kind: 'refused',
        failures: [{ graph_id: 'agent', message: expect.stringMatching(/not \[secret\]/) as string,
          at: expect.stringMatching(/^src\/agent\.ts:\d+:\d+$/) as string }] })
    await serving.close()
    for (const { pid } of started) expect(() => process.kill(pid, 0)).toThrow('ESRCH')
  })
