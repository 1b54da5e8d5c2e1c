/**
 * By night: two members with Cassandra build a project of pnpm for `heddle deploy --remote`, and
 * one of them dies in the middle of a build.
 */

import { execFile } from 'node:child_process'
import { existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { dropKeyspace, newKeyspace } from '../../support/cassandra-keyspace.ts'
import type { CassandraKeyspace } from '../../support/cassandra-keyspace.ts'
import { cassandraForTests } from '../../support/cassandra.ts'
import { heddleProcessIn } from '../../support/command.ts'
import { installManagers, installWith, managers,
  programFolder } from '../../support/package-managers.ts'
import { say, texts } from '../../support/run-events.ts'
import { oneWorker, startServer } from '../../support/server-process.ts'
import type { ServerProcess } from '../../support/server-process.ts'
import { clientOf } from '../../support/server.ts'
import { writeTree } from '../../unit/revision/trees.ts'

const cassandra = await cassandraForTests()
const pnpm = managers.find(({ title }) => title === 'pnpm 12')!

const agent = (said: string) =>
  `import { MessagesAnnotation, StateGraph } from '@langchain/langgraph'
export const agent = new StateGraph(MessagesAnnotation)
  .addNode('reply', () => ({ messages: [{ role: 'ai', content: '${said}' }] }))
  .addEdge('__start__', 'reply').compile()
`

describe.skipIf(!cassandra)('builds in a cluster', () => {
  let root: string
  let keyspace: CassandraKeyspace
  let members: ServerProcess[] = []

  beforeAll(async () => {
    await installManagers()
    root = await mkdtemp(join(tmpdir(), 'heddle-builds-'))
    keyspace = newKeyspace(cassandra!)
    const { stdout: registry } = await promisify(execFile)('npm', ['config', 'get', 'registry'])
    await writeTree(join(root, 'shop'), {
      'langgraph.json': '{"graphs": {"agent": "./agent.ts:agent"}}',
      'agent.ts': agent('one'),
      'package.json': JSON.stringify({ name: 'shop', private: true, type: 'module',
        dependencies: { '@langchain/core': '1.2.13', '@langchain/langgraph': '1.4.18' } }),
    })
    await installWith(pnpm, join(root, 'shop'), registry.trim())
    rmSync(join(root, 'shop/node_modules'), { recursive: true })
    // It waits while there is a file `hold`.
    const program = await programFolder(pnpm, root)
    await writeTree(root, { 'bin/pnpm': { program: `#!/bin/sh
if [ -e ${root}/hold ] && [ "$1" = install ]; then touch ${root}/held; exec sleep 1000; fi
exec ${program}/pnpm "$@"
` } })
    const start = (name: string) =>
      startServer({ project: 'judging', cassandra: keyspace, dataDir: join(root, name),
        args: [...oneWorker, '--builds', 'on', '--member-host', '127.0.0.1'],
        env: { PATH: `${root}/bin:${process.env['PATH']}`, npm_config_registry: registry.trim(),
          OPENAI_API_KEY: '', ANTHROPIC_API_KEY: '' } })
    // The first one makes the tables.
    members = [await start('a')]
    members.push(await start('b'))
  })

  afterAll(async () => {
    await Promise.all(members.map((member) => member.close()))
    if (keyspace !== undefined) await dropKeyspace(keyspace)
    if (root !== undefined) rmSync(root, { recursive: true, force: true })
  })

  const inShop = ({ url }: ServerProcess, ...args: readonly string[]) =>
    heddleProcessIn({ INIT_CWD: join(root, 'shop'), npm_lifecycle_event: 'heddle',
      HEDDLE_URL: url }, ...args)
  const deploy = (member: ServerProcess) =>
    inShop(member, 'deploy', '--remote', '--no-watch', '--timeout', '30m')
  const work = ({ dataDir }: ServerProcess) =>
    existsSync(join(dataDir, 'builds'))
      ? readdirSync(join(dataDir, 'builds')).filter((name) => name !== 'installed')
      : []
  const answer = async ({ url }: ServerProcess) => {
    const { runs, threads } = clientOf(`${url}/d/shop`)
    const { thread_id: id } = await threads.create()
    return texts(await runs.wait(id, 'agent', { input: say('hello') })).at(-1)
  }

  it('a project of pnpm is built, and served by every member', async () => {
    expect(await deploy(members[0]!)).toMatchObject({ status: 0, stderr: expect.any(String) })
    for (const member of members) expect(await answer(member)).toBe('one')
  })

  it('a build whose member dies is refused by another one, which builds the next', async () => {
    writeFileSync(join(root, 'shop/agent.ts'), agent('two'))
    for (const { dataDir } of members) {
      rmSync(join(dataDir, 'builds/installed'), { recursive: true, force: true })
    }
    writeFileSync(join(root, 'hold'), '')
    const deploying = deploy(members[0]!)
    await expect.poll(() => existsSync(join(root, 'held'))).toBe(true)
    const dying = members.find((member) => work(member).length > 0)!
    const other = members.find((member) => member !== dying)!
    await dying.kill('SIGKILL')
    rmSync(join(root, 'hold'))
    await expect.poll(async () => (await inShop(other, 'revisions', '--json')).stdout, {
      timeout: 120_000,
    }).toMatch(/The server that built it ended in the middle/)
    expect(await deploying).toMatchObject({ status: expect.not.toSatisfy((code) => code === 0) })
    expect(await answer(other)).toBe('one')

    expect(await deploy(other)).toMatchObject({ status: 0 })
    expect(await answer(other)).toBe('two')
    await dying.restart()
    await expect.poll(() => work(dying)).toEqual([])
    expect(await answer(dying)).toBe('two')
  })
})
