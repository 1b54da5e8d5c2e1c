/** A project with all that a langgraph.json may bring, on three members, of which one is killed. */

import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFailed } from 'vitest'

import { ownerPlace, untilPlaced } from '../../bench/ownership-view.ts'
import { dropKeyspace, newKeyspace } from '../../support/cassandra-keyspace.ts'
import type { CassandraKeyspace } from '../../support/cassandra-keyspace.ts'
import { cassandraForTests } from '../../support/cassandra.ts'
import { startCluster } from '../../support/cluster.ts'
import type { Cluster } from '../../support/cluster.ts'
import { useGates } from '../../support/gate.ts'
import { oneWorker } from '../../support/server-process.ts'
import { beginsSession, beginsTask } from '../whole/agents.ts'
import { bakeryFolder } from '../whole/bakery-folder.ts'
import { Bakery } from '../whole/bakery.ts'
import { beginHeld } from '../whole/injected.ts'
import { promises } from '../whole/promises.ts'

const cassandra = await cassandraForTests()
const secret = 'a-secret-of-the-bakery-on-three-members'
/** Longer than a fail-over takes on a busy machine. */
const patience = { timeout: 60_000, interval: 250 }

describe.skipIf(!cassandra)('on three members,', () => {
  const gate = useGates()
  let root: string
  let keyspace: CassandraKeyspace
  let cluster: Cluster
  let served: Bakery
  let deployed: Bakery

  beforeAll(async () => {
    root = mkdtempSync(join(tmpdir(), 'heddle-whole-'))
    const key = join(root, 'secrets.key')
    writeFileSync(key, randomBytes(32), { mode: 0o600 })
    keyspace = newKeyspace(cassandra!)
    cluster = await startCluster({ members: 3, project: 'whole', cassandra: keyspace,
      args: [...oneWorker, '--secrets-key', key], env: { BAKERY_SECRET: secret } })
    served = new Bakery(cluster.frontDoors.map((url) => ({ url })), secret)
    deployed = new Bakery(cluster.frontDoors.map((url) => ({ url: `${url}/d/bakery` })), secret)
    await untilPlaced(cluster)
  }, 240_000)
  afterAll(async () => {
    await cluster?.close()
    await dropKeyspace(keyspace)
    rmSync(root, { recursive: true })
  }, 120_000)
  beforeEach(() => onTestFailed(() => console.log(cluster.story())))

  it.each(promises)('a project %s', (_, keep) => keep(served, gate()))

  it('a project is deployed through one of them', async () => {
    const folder = await bakeryFolder(join(root, 'bakery'), cluster.frontDoors[1]!, '')
    const deploy = () => folder.heddle('deploy', '--no-watch', '--json', '--yes')
    expect(await deploy())
      .toMatchObject({ status: 3, stderr: expect.stringContaining('BAKERY_SECRET is missing') })
    expect(await folder.heddle('secrets', 'set', `BAKERY_SECRET=${secret}`))
      .toMatchObject({ status: 0 })
    // On a busy machine a member may be too slow. That ends with 1: it is to be sent again.
    await expect.poll(async () => (await deploy()).status, { ...patience, timeout: 150_000 })
      .toBe(0)
  })

  it.each(promises)('its deployment %s', (_, keep) => keep(deployed, gate()))

  it('sessions, tasks and runs go on at the others when one is killed', async () => {
    const held = gate()
    const threadId = await beginHeld(served, 1, held)
    const resumes = [await beginsSession(served), await beginsTask(served)]
    const victim = await ownerPlace(cluster, threadId)
    await cluster.members[victim]!.kill('SIGKILL')
    await held.arrived(2)
    held.open()
    const others = served.without(served.door(victim))
    for (const resume of resumes) await resume(others)
    await expect.poll(async () => {
      const path = `/threads/${threadId}`
      return (await others.ask(0, 'alice', { method: 'GET', path })).json
    }, patience).toMatchObject({ status: 'idle' })
    await cluster.members[victim]!.restart()
    await untilPlaced(cluster)
    expect(await served.everywhere('alice', { method: 'GET', path: '/bakery/user' }))
      .toMatchObject({ status: 200, json: { user: { identity: 'alice' } } })
  }, 180_000)

  it('nothing of the secret is in a log', () => {
    for (const { output } of cluster.members) expect(output()).not.toContain(secret)
  })
})
